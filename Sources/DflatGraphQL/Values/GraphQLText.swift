// GraphQLText: custom scalars without a type of their own.
//
// A service may send anything for such a scalar: a text, a number, an object. Programs have it as a
// text, which for everything but a text is its JSON, with the digits that the service has sent.
// Decoders do not tell these, so the text is looked up in the response.

import Foundation
import Platform

/// A custom scalar of a response, as it is decoded. Generated code uses it in lists.
public struct GraphQLText: Decodable, Sendable {
  /// The text; the JSON if the service has sent something else than text.
  public let text: String

  /// Decodes any JSON value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self.text = text
    } else if let source = decoder.userInfo[.source] as? ResponseSource,
      let text = source.text(at: decoder.codingPath)
    {
      self.text = text
    } else if let number = try? value.decode(Decimal.self), !number.isNaN {
      // A long number has more digits than an integer or a double.
      text = "\(number)"
    } else {
      text = String(graphQL: try value.decode(GraphQLValue.self))
    }
  }
}

/// The JSON that a decoder reads. It is taken apart when a value is looked up.
final class ResponseSource: Sendable {
  private let json: Foundation.Data
  private let tree = Mutex<JSONTree?>(nil)

  init(_ json: Foundation.Data) { self.json = json }

  /// The JSON of a value: without blanks, and with sorted keys; nil if there is none at a path.
  func text(at path: [any CodingKey]) -> String? {
    tree.withLock { tree in
      if tree == nil { tree = (try? JSONTree(json)) ?? .null }
      return tree?.value(at: [GraphQLPathElement](path))?.text
    }
  }
}

extension CodingUserInfoKey {
  /// The ``ResponseSource`` of a decoder.
  static let source = CodingUserInfoKey(rawValue: "DflatGraphQL.source")!
}

extension JSONTree {
  /// The JSON in the form that is the same for equal values, apart from numbers, which stay as they
  /// are written; nil if a text in it is no Unicode.
  fileprivate var text: String? {
    switch self {
    case .atom(let atom):
      guard atom.first == UInt8(ascii: "\"") else { return String(validating: atom, as: UTF8.self) }
      return (try? decode(String.self)).flatMap(Self.written)
    case .list(let list):
      let texts = list.compactMap(\.text)
      return texts.count == list.count ? "[\(texts.joined(separator: ","))]" : nil
    case .object(let object):
      let texts = object.members.sorted { $0.key < $1.key }.compactMap { member in
        Self.written(member.key).flatMap { key in member.value.text.map { "\(key):\($0)" } }
      }
      return texts.count == object.members.count ? "{\(texts.joined(separator: ","))}" : nil
    }
  }

  private static func written(_ text: String) -> String? {
    // In a list, since a text alone is not JSON for every encoder.
    (try? JSONEncoder.graphQL.encode([text])).map {
      String(decoding: $0.dropFirst().dropLast(), as: UTF8.self)
    }
  }
}
