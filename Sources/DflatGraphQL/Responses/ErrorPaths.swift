// Which field of a response an error is about, if the error does not say it.
//
// Foundation reads a number such as 3.5 in a field of type Int, and a text such as "\ud800", when
// the field is decoded. What it throws then has no path, nor have errors that custom scalars throw.

import Foundation

extension DecodingError {
  /// An error about a field, with its path or that of the element of a list that cannot be decoded.
  init<Value>(
    _ error: any Error, _ container: KeyedDecodingContainer<PathKey>, _ key: PathKey,
    _ type: Value.Type
  ) {
    let list = try? container.nestedUnkeyedContainer(forKey: key)
    let inner = list.flatMap { (type as? any DecodableList.Type)?.error(in: $0) }
    self = inner ?? DecodingError(error, at: container.codingPath + [key])
  }

  fileprivate init(_ error: any Error, at path: [any CodingKey]) {
    guard let known = error as? DecodingError else {
      self = .dataCorrupted(
        Context(codingPath: path, debugDescription: "\(error)", underlyingError: error))
      return
    }
    guard case .dataCorrupted(let context) = known, !known.hasPath else {
      self = known
      return
    }
    self = .dataCorrupted(
      Context(
        codingPath: path, debugDescription: context.debugDescription,
        underlyingError: context.underlyingError))
  }

  var hasPath: Bool {
    if case .dataCorrupted(let context) = self { !context.codingPath.isEmpty } else { true }
  }

  /// What Foundation says about a number or text that no type of Swift, or not the type that is
  /// asked for, has: where it is, which is nothing if the error does not say it. Nil for other
  /// errors.
  var pathOfUnreadableValue: [any CodingKey]? {
    guard case .dataCorrupted(let context) = self else { return nil }
    if context.codingPath.isEmpty { return [] }
    guard let cause = context.underlyingError, type(of: cause) == Self.causeType else { return nil }
    return context.codingPath
  }

  /// The type of what Foundation throws, which is not public.
  private static let causeType: Any.Type? = {
    struct Probe: Decodable {
      let cause: Any.Type?

      init(from decoder: any Decoder) throws {
        do {
          _ = try [Int](from: decoder)
          cause = nil
        } catch { cause = type(of: error) }
      }
    }
    return try? JSONDecoder().decode(Probe.self, from: Data("[0.5]".utf8)).cause
  }()
}

/// A list, which finds the element of it that cannot be decoded.
private protocol DecodableList {
  static func error(in list: any UnkeyedDecodingContainer) -> DecodingError?
}

extension Array: DecodableList where Element: Decodable {
  static func error(in list: any UnkeyedDecodingContainer) -> DecodingError? {
    var list = list
    while !list.isAtEnd {
      let path = list.codingPath + [ElementKey(list.currentIndex)]
      do { _ = try list.decode(Element.self) } catch {
        let type = Element.self as? any DecodableList.Type
        let inner = try? list.nestedUnkeyedContainer()
        return inner.flatMap { type?.error(in: $0) } ?? DecodingError(error, at: path)
      }
    }
    return nil
  }
}

extension Optional: DecodableList where Wrapped: DecodableList {
  static func error(in list: any UnkeyedDecodingContainer) -> DecodingError? {
    Wrapped.error(in: list)
  }
}

/// The place of an element.
private struct ElementKey: CodingKey {
  let index: Int
  var intValue: Int? { index }
  var stringValue: String { "\(index)" }

  init(_ index: Int) { self.index = index }
  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) { nil }
}
