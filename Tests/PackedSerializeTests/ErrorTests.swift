// What errors of values say.

import Foundation
import PackedSerialize
import Testing

struct ErrorTests {
  @Test(
    "What cannot be written says what is wrong with it",
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

  @Test("Bytes that are no value say why")
  func deserializeErrors() {
    let texts: [(DeserializeError, String)] = [
      (.invalidLength, "count"), (.invalidValue, "no value"),
      (.endOfBufferReached(17, 16), "byte 17, but there are only 16"),
    ]
    for (error, word) in texts {
      #expect(error.description.contains(word))
      #expect(error.errorDescription == error.description)
      #expect(error.recoverySuggestion != nil)
    }
    #expect(KeyFailure.tooLong.description.contains("more bytes"))
    #expect(KeyFailure.tooLong.recoverySuggestion != nil)
  }
}
