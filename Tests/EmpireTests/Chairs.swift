// Records that the tests of observation watch, and what they note.

import DflatTestSupport
import Empire
import Foundation

@IndexKeyRecord("room", "number")
@Index("weight")
struct Chair: Equatable, Sendable {
  let room: String
  let number: Int
  var weight: Int
}

@IndexKeyRecord(keyPrefix: 900, fieldsVersion: 1, "id")
struct Unreadable: Sendable { let id: Int }
@IndexKeyRecord(keyPrefix: 900, fieldsVersion: 2, "id")
struct Unread: Sendable { let id: Int }

/// A record that lets something happen when it is read.
struct Disturbed: IndexKeyRecord, Sendable {
  typealias IndexKey = Tuple<Int>
  typealias Fields = Tuple<EmptyValue>
  static var keyPrefix: IndexKeyRecordHash { 902 }
  static var fieldsVersion: IndexKeyRecordHash { 0 }
  @TaskLocal static var whenRead: (@Sendable () -> Void)?
  let id: Int
  var indexKey: IndexKey { Tuple(id) }
  var fields: Fields { Tuple(EmptyValue()) }

  func serialize(into buffer: inout SerializationBuffer) { id.serialize(into: &buffer.keyBuffer) }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self {
    whenRead?()
    return Self(id: try Int.unpack(with: &deserializer.keyDeserializer))
  }
}

/// What handlers were called with.
final class Recorder<Event: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: [Event] = []

  var events: [Event] { lock.withLock { stored } }

  func add(_ event: Event) { lock.withLock { stored.append(event) } }

  /// What has come since the last time.
  func take() -> [Event] {
    lock.withLock {
      defer { stored = [] }
      return stored
    }
  }
}

struct Undo: Error {}

func withChairs<R>(_ body: (Store) throws -> R) throws -> R {
  try withTemporaryDirectory { try body(Store(database: try LockingDatabase(url: $0))) }
}

func chair(_ number: Int, _ weight: Int = 0, room: String = "a") -> Chair {
  Chair(room: room, number: number, weight: weight)
}
