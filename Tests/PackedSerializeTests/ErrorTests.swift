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
