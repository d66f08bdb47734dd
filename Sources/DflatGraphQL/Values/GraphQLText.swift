// GraphQLText: custom scalars without a type of their own.
//
// A service may send anything for such a scalar: a text, a number, an object. Programs have it as a
// text, which for everything but a text is its JSON.

import Foundation

/// A custom scalar of a response, as it is decoded. Generated code uses it in lists.
public struct GraphQLText: Decodable, Sendable {
  /// The text; the JSON if the service has sent something else than text.
  public let text: String

  /// Decodes any JSON value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self.text = text
    } else if let number = try? value.decode(Decimal.self), !number.isNaN {
      // A long number has more digits than an integer or a double.
      text = "\(number)"
    } else {
      text = String(graphQL: try value.decode(GraphQLValue.self))
    }
  }
}
