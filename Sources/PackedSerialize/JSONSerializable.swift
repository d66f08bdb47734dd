// Codable types: JSON, as the bytes of `Data`.
//
// The keys of objects are sorted, so equal values mostly have equal bytes; the elements of a set
// have no order, though. JSON has no order that a key could use.

package import Foundation

/// A `Codable` type that is written as JSON, without more than this declaration:
///
///     struct Address: JSONSerializable {
///       var street: String
///       var location: [Double]
///     }
///
/// JSON takes more room and time than the bytes of a type that implements ``Serializable`` itself:
/// each value is encoded several times and decoded once when it is written. What is stored follows
/// the rules of `Codable`: a property that was added must be optional, or `init(from:)` must have a
/// default for it. Infinite numbers and NaN are stored as well. A type with a raw value is better
/// declared `Serializable, Deserializable`: it is then written as the raw value.
public protocol JSONSerializable: Codable, Serializable, Deserializable {}

extension JSONSerializable {
  private var json: Result<Data, any Error> { Result { try JSONForm.encoder.encode(self) } }

  /// The bytes of the JSON, and 8 for their count.
  public var serializedSize: Int { ((try? json.get()) ?? Data()).serializedSize }

  /// Writes the JSON as `Data`.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    ((try? json.get()) ?? Data()).serialize(into: &buffer)
  }

  /// Checks that the value can be encoded and decoded.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: `notCodable`.
  public func validate(as form: SerializedForm) throws(SerializeError) {
    do {
      _ = try JSONForm.decoder.decode(Self.self, from: try json.get())
    } catch { throw .notCodable("\(error)") }
  }

  /// Reads JSON.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `invalidValue` if the JSON does not represent a value, and the errors of reading
  ///   `Data`.
  /// - Returns: The value.
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    let data = try Data.unpack(with: &deserializer)
    do { return try JSONForm.decoder.decode(Self.self, from: data) } catch { throw .invalidValue }
  }
}

/// The encoding of values as JSON. It is part of the file format, and of exported lines.
package enum JSONForm {
  package static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }()

  package static let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }()
}
