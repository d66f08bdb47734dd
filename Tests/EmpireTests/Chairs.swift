// Records for the observation tests, and a recorder for events.

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

/// A record that runs a closure when it is read.
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

/// Records the arguments of handlers.
final class Recorder<Event: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: [Event] = []

  var events: [Event] { lock.withLock { stored } }

  func add(_ event: Event) { lock.withLock { stored.append(event) } }

  /// Returns and removes the events since the last call.
  func take() -> [Event] {
    lock.withLock {
      defer { stored = [] }
      return stored
    }
  }
}

struct Rollback: Error {}

func withChairs<R>(_ body: (Store) throws -> R) throws -> R {
  try withTemporaryDirectory { try body(Store(database: try LockingDatabase(url: $0))) }
}

func chair(_ number: Int, _ weight: Int = 0, room: String = "a") -> Chair {
  Chair(room: room, number: number, weight: weight)
}
