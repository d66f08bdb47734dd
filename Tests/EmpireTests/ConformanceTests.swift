// Records that conform by hand, and tuples.

import Empire
import Foundation
import Testing

struct Measurement: Equatable {
  let sensor: UInt
  let taken: Date
  var value: Int
  var note: String?
}

extension Measurement: IndexKeyRecord {
  typealias IndexKey = Tuple<UInt, Date>
  typealias Fields = Tuple<Int, String?>

  static var keyPrefix: IndexKeyRecordHash { 7 }
  static var fieldsVersion: IndexKeyRecordHash { 2 }

  var indexKey: IndexKey { Tuple(sensor, taken) }
  var fields: Fields { Tuple(value, note) }

  func serialize(into buffer: inout SerializationBuffer) {
    sensor.serialize(into: &buffer.keyBuffer)
    taken.serialize(into: &buffer.keyBuffer)
    value.serialize(into: &buffer.valueBuffer)
    note.serialize(into: &buffer.valueBuffer)
  }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self {
    let sensor = try UInt.unpack(with: &deserializer.keyDeserializer)
    let taken = try Date.unpack(with: &deserializer.keyDeserializer)
    let value = try Int.unpack(with: &deserializer.fieldsDeserializer)
    let note = try Optional<String>.unpack(with: &deserializer.fieldsDeserializer)
    return Self(sensor: sensor, taken: taken, value: value, note: note)
  }

  // Version 1 had no note.
  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Self {
    guard version == 1 else { throw unsupportedMigrationError(for: version) }
    let sensor = try UInt.unpack(with: &deserializer.keyDeserializer)
    let taken = try Date.unpack(with: &deserializer.keyDeserializer)
    let value = try Int.unpack(with: &deserializer.fieldsDeserializer)
    return Self(sensor: sensor, taken: taken, value: value, note: nil)
  }
}

/// Version 1 of `Measurement`.
private struct FirstMeasurement: IndexKeyRecord {
  typealias IndexKey = Tuple<UInt, Date>
  typealias Fields = Tuple<Int>
  static var keyPrefix: IndexKeyRecordHash { 7 }
  static var fieldsVersion: IndexKeyRecordHash { 1 }
  let sensor: UInt
  let taken: Date
  var value: Int
  var indexKey: IndexKey { Tuple(sensor, taken) }
  var fields: Fields { Tuple(value) }

  func serialize(into buffer: inout SerializationBuffer) {
    indexKey.serialize(into: &buffer.keyBuffer)
    fields.serialize(into: &buffer.valueBuffer)
  }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self {
    let key = try IndexKey.unpack(with: &deserializer.keyDeserializer)
    let fields = try Fields.unpack(with: &deserializer.fieldsDeserializer)
    return Self(sensor: key.elements.0, taken: key.elements.1, value: fields.elements)
  }
}

/// The same as `Measurement`, but writes its key and its fields separately.
private struct Apart: IndexKeyRecord {
  typealias IndexKey = Tuple<UInt, Date>
  typealias Fields = Tuple<Int, String?>
  static var keyPrefix: IndexKeyRecordHash { 7 }
  static var fieldsVersion: IndexKeyRecordHash { 2 }
  var measurement: Measurement
  var indexKey: IndexKey { measurement.indexKey }
  var fields: Fields { measurement.fields }

  func serialize(into buffer: inout SerializationBuffer) { measurement.serialize(into: &buffer) }

  func serialize(key writer: inout KeyWriter) {
    measurement.sensor.serializeKey(to: &writer)
    measurement.taken.serializeKey(to: &writer)
  }

  func serialize(measuring size: inout FieldsSize) throws(SerializeError) {
    try size.add(measurement.value)
    try size.add(measurement.note)
  }

  func serialize(fields buffer: inout UnsafeMutableRawBufferPointer) {
    measurement.value.serialize(into: &buffer)
    measurement.note.serialize(into: &buffer)
  }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self {
    Self(measurement: try Measurement.deserialize(with: deserializer))
  }
}

/// Writes fewer bytes than `fields` has.
private struct Miscounting: IndexKeyRecord {
  typealias IndexKey = Tuple<Int>
  typealias Fields = Tuple<Int>
  static var keyPrefix: IndexKeyRecordHash { 8 }
  static var fieldsVersion: IndexKeyRecordHash { 1 }
  var writesKey: Bool
  var indexKey: IndexKey { Tuple(1) }
  var fields: Fields { Tuple(2) }

  func serialize(into buffer: inout SerializationBuffer) {
    if writesKey {
      1.serialize(into: &buffer.keyBuffer)
    } else {
      2.serialize(into: &buffer.valueBuffer)
    }
  }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self { Self(writesKey: true) }
}

/// Writes another key than `indexKey`.
private struct TwoKeys: IndexKeyRecord {
  typealias IndexKey = Tuple<Int>
  typealias Fields = Tuple<Int>
  static var keyPrefix: IndexKeyRecordHash { 9 }
  static var fieldsVersion: IndexKeyRecordHash { 1 }
  var indexKey: IndexKey { Tuple(1) }
  var fields: Fields { Tuple(2) }

  func serialize(into buffer: inout SerializationBuffer) {
    (-1).serialize(into: &buffer.keyBuffer)
    2.serialize(into: &buffer.valueBuffer)
  }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self { Self() }
}

struct ConformanceTests {
  @Test("A record that writes its key and its fields separately stores the same bytes")
  func apart() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let date = Date(timeIntervalSince1970: 1000)
      let measurements = [
        Measurement(sensor: 1, taken: date, value: -5, note: "warm"),
        Measurement(sensor: 1, taken: date + 1, value: 5, note: nil),
      ]
      try store.insert(Apart(measurement: measurements[0]))
      try store.insert(measurements[1])
      let found: [Measurement] = try store.select(query: Query(last: .equals(1 as UInt)))
      #expect(found == measurements)
      let again: [Apart] = try store.select(query: Query(last: .equals(1 as UInt)))
      #expect(again.map(\.measurement) == measurements)
      #expect(throws: SerializeError.nulInString) {
        var wrong = measurements[0]
        wrong.note = "\0"
        try store.insert(Apart(measurement: wrong))
      }
      try store.delete(Apart(measurement: measurements[1]))
      try store.delete(measurements[0])
      #expect(try store.withTransaction { try $0.count(of: Measurement.self) } == 0)
    }
  }

  @Test("A record that writes fewer bytes than its fields have is a fatal error")
  func miscounting() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.path(percentEncoded: false)
      for writesKey in [true, false] {
        let exit = await #expect(
          processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [path = path as String, writesKey = writesKey as Bool] in
          try Store(path: path).insert(Miscounting(writesKey: writesKey))
        }
        let text = String(decoding: exit?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("IndexKeyRecord: serialize(into:) has written fewer bytes"))
      }
    }
  }

  @Test("A record that writes another key than its own is a fatal error")
  func twoKeys() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.path(percentEncoded: false)
      let exit = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { [path = path as String] in
        try Store(path: path).insert(TwoKeys())
      }
      let text = String(decoding: exit?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("has written different key bytes than indexKey has"))
    }
  }

  @Test("A record that conforms by hand is stored, queried and migrated")
  func byHand() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let date = Date(timeIntervalSince1970: 1000)
      let second = Measurement(sensor: 1, taken: date + 1, value: -5, note: "warm")
      try store.withTransaction { context in
        try FirstMeasurement(sensor: 1, taken: date, value: 3).insert(in: context)
        try context.insert(second)
        let found: [Measurement] = try context.select(query: Query(last: .equals(1 as UInt)))
        #expect(found == [Measurement(sensor: 1, taken: date, value: 3, note: nil), second])
        try Measurement.delete(in: context, key: Tuple(1, date))
        try second.delete(in: context)
        #expect(throws: MDBError.recordNotFound) { try second.delete(in: context) }
      }
    }
  }

  @Test("Tuples compare, hash and describe themselves")
  func tuples() {
    #expect(Tuple<Int>(9).elements == 9)
    #expect(Tuple() == Tuple())
    #expect(Tuple(1, "b") < Tuple(1, "c") && Tuple(1, "z") < Tuple(2, "a"))
    #expect(!(Tuple(2, "a") < Tuple(1, "z")) && !(Tuple(1, "a") < Tuple(1, "a")))
    #expect(Set([Tuple(1, "a"), Tuple(1, "a"), Tuple(2, "a")]).count == 2)
    #expect(Tuple("a", 1).description == "(a, 1)")
    #expect(Tuple("a1", 1).ckRecordName == Tuple("a", 11).ckRecordName)
    #expect(Tuple(Tuple(1, 2), "x").elements.0 == Tuple(1, 2))
    #expect(Tuple<Tuple<Int, Int>, String>.keyComponentCount == 3)
  }

  @Test("Operators with alternative names are equal")
  func operators() {
    #expect(ComparisonOperator.lessThanOrEqual(1) == .lessOrEqual(1))
    #expect(ComparisonOperator.greaterThanOrEqual(1) == .greaterOrEqual(1))
    #expect(ComparisonOperator.equals(1) == .closedRange(1...1))
  }
}
