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
    let text = try? container.decode(String.self)
    let number = text.map { Decimal(stored: $0) } ?? (try? container.decode(Decimal.self))
    guard let value = number, !value.isNaN else {
      let found = text.map { "\"\($0)\"" } ?? "the value"
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(found) is no decimal number")
    }
    self.value = value
  }
}
