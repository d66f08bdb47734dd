// GraphQLDecimal: decimal numbers, which most services send as texts, because a number of JSON may
// lose digits on its way.

import Dflat
public import Foundation

/// A decimal number of a response, as it is decoded. Generated code uses it.
public struct GraphQLDecimal: Decodable, Sendable {
  /// The number.
  public let value: Decimal

  /// Decodes a number of JSON, or a text with digits, a point and an exponent.
  /// - Throws: `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let text = try? container.decode(String.self) else {
      value = try container.decode(Decimal.self)
      return
    }
    guard let value = Decimal(stored: text), !value.isNaN else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is no decimal number")
    }
    self.value = value
  }
}
