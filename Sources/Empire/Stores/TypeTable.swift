// Which types of record a directory has met, so that two that would share records by accident are told apart.
//
// A type's tag is by default a hash of its name. Two types with the same name, of different modules or files, have the same one, and so may
// two names. A tag that a program gives is its own business: that is how migrations read the records of an older type.

internal import Synchronization

/// The types of record that a directory has met.
@usableFromInline
final class TypeTable: Sendable {
  private struct Entry: Sendable {
    let type: ObjectIdentifier
    let name: String
  }

  // The last type that was found right at each place. Unsafe, and sound: the pointer never changes and atomics are for all threads.
  private nonisolated(unsafe) let recent: UnsafeMutablePointer<Atomic<UInt>>
  private static let capacity = 64
  private let types = Mutex<[IndexKeyRecordHash: Entry]>([:])

  init() {
    recent = .allocate(capacity: Self.capacity)
    for place in 0..<Self.capacity { (recent + place).initialize(to: Atomic(0)) }
  }

  deinit {
    recent.deinitialize(count: Self.capacity)
    recent.deallocate()
  }

  private func place(_ prefix: IndexKeyRecordHash) -> UnsafeMutablePointer<Atomic<UInt>> {
    recent + Int(prefix % UInt32(Self.capacity))
  }

  /// Whether a type has been found right, as far as can be told at once.
  func knows(_ type: ObjectIdentifier, _ prefix: IndexKeyRecordHash) -> Bool {
    place(prefix).pointee.load(ordering: .relaxed) == UInt(bitPattern: type)
  }

  /// Throws if another type has the same tag by accident.
  @usableFromInline
  func add<Record: IndexKeyRecord>(_ recordType: Record.Type) throws(StoreError) {
    let prefix = Record.keyPrefix
    let entry = Entry(type: ObjectIdentifier(recordType), name: String(reflecting: recordType))
    if Record.recordDescription.hasHashedPrefix {
      let first = types.withLock { types in
        let first = types[prefix] ?? entry
        types[prefix] = first
        return first
      }
      if first.type != entry.type { throw .equalPrefixes(first.name, entry.name, prefix) }
    }
    place(prefix).pointee.store(UInt(bitPattern: entry.type), ordering: .relaxed)
  }
}
