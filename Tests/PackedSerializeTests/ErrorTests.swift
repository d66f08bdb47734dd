// The messages of serialization errors.

import Foundation
import PackedSerialize
import Testing

struct ErrorTests {
  @Test(
    "The error for a value that cannot be written says why",
    arguments: [
      (SerializeError.nulInString, "NUL"), (.dateOutOfRange, "milliseconds"),
      (.notANumber, "NaN"), (.tooManyEmptyElements(70_000), "70000 elements"),
      (.unreadable, "cannot be read back"), (.equalKeys, "as equal ones"),
      (.refusedRawValue("Grade(rawValue: 3)"), "Grade(rawValue: 3) is nil"),
      (.notCodable("no"), "encoded as JSON"),
    ])
  func serializeErrors(error: SerializeError, word: String) {
    #expect(error.description.contains(word))
    #expect(error.errorDescription == error.description)
    #expect(error.recoverySuggestion != nil)
    let owned = SerializeError(error.reason, record: "Person", property: "name")
    #expect(owned.description == "Person.name: " + error.description)
    #expect(
      SerializeError(error.reason, record: "Person", property: nil).description
        == "Person: " + error.description)
    #expect(owned == error && owned.record == "Person" && owned.property == "name")
    let failure = KeyFailure.refused(owned)
    #expect(failure.errorDescription == owned.description)
    #expect(failure.recoverySuggestion == owned.recoverySuggestion)
  }

  /// A program's type that leaves everything but bytes to the defaults.
  private struct Address: Serializable, Deserializable {
    var street: String
    var zip: Int
    var data = Data()

    var serializedSize: Int {
      street.serializedSize + zip.serializedSize + data.serializedSize
    }
    func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
      street.serialize(into: &buffer)
      zip.serialize(into: &buffer)
      data.serialize(into: &buffer)
    }
    static func unpack(
      with deserializer: inout Deserializer
    ) throws(DeserializeError) -> sending Address {
      let street = try String.unpack(with: &deserializer)
      let zip = try Int.unpack(with: &deserializer)
      return Address(street: street, zip: zip, data: try Data.unpack(with: &deserializer))
    }
  }

  /// Two strings: with a NUL, the bytes are those of two strings, and more.
  private struct Two: Serializable, Deserializable {
    var first: String
    var second: String

    var serializedSize: Int { first.serializedSize + second.serializedSize }
    func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
      first.serialize(into: &buffer)
      second.serialize(into: &buffer)
    }
    static func unpack(
      with deserializer: inout Deserializer
    ) throws(DeserializeError) -> sending Two {
      let first = try String.unpack(with: &deserializer)
      return Two(first: first, second: try String.unpack(with: &deserializer))
    }
  }

  @Test("A value that could not be read back is refused, also inside a type of the program")
  func unreadable() throws {
    for form in [SerializedForm.field, .key] {
      try Address(street: "a", zip: -5, data: Data([0, 1])).validate(as: form)
      try Two(first: "a", second: "").validate(as: form)
      for two in [Two(first: "a\0", second: "b"), Two(first: "a", second: "b\0")] {
        #expect(throws: SerializeError.unreadable) { try two.validate(as: form) }
      }
      for street in ["\0", "a\0b", "\0\0\0\0\0\0\0\0\0\0"] {
        #expect(throws: SerializeError.unreadable) {
          try Address(street: street, zip: 5).validate(as: form)
        }
        #expect(throws: SerializeError.unreadable) {
          try [Address(street: street, zip: 5)].validate(as: form)
        }
      }
    }
  }

  @Test("The error for bytes that are not a value says why")
  func deserializeErrors() {
    let texts: [(DeserializeError, String)] = [
      (.invalidLength, "count"), (.invalidValue, "a value of the requested type"),
      (.endOfBufferReached(17, 16), "byte 17, but there are only 16"),
    ]
    for (error, word) in texts {
      #expect(error.description.contains(word))
      #expect(error.errorDescription == error.description)
      #expect(error.recoverySuggestion != nil)
    }
    #expect(KeyFailure.tooLong.description.contains("does not fit"))
    #expect(KeyFailure.tooLong.recoverySuggestion != nil)
  }
}
