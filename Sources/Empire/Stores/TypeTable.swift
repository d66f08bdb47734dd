// The record types that have been used in a directory. Detects two types that would share records
// by accident.
//
// By default a type's tag is a hash of its name. Two types with the same name, from different
// modules or files, have the same tag, and so may two names by chance. A tag that the program
// chooses is not checked: migrations read the records of an older type that way.

internal import Platform

/// The record types that have been used in a directory.
@usableFromInline
final class TypeTable: Sendable {
  private let types = Mutex<[IndexKeyRecordHash: any IndexKeyRecord.Type]>([:])
  /// The type that was checked last. Consecutive calls are mostly about one type, and this cache
  /// spares them the lock.
  private let latest = Atomic<UInt>(0)

  /// Whether a type is known to be valid, without taking the lock. False does not mean that it is
  /// invalid.
  func knows(_ type: ObjectIdentifier) -> Bool {
    latest.load(ordering: .relaxed) == UInt(bitPattern: type)
  }

  /// Throws if another type has the same hashed tag.
  @usableFromInline
  func add<Record: IndexKeyRecord>(_ recordType: Record.Type) throws(StoreError) {
    if Record.recordDescription.hasHashedPrefix {
      let prefix = Record.keyPrefix
      let first: any IndexKeyRecord.Type = types.withLock { types in
        if let first = types[prefix] { return first }
        types[prefix] = recordType
        return recordType
      }
      if ObjectIdentifier(first) != ObjectIdentifier(recordType) {
        throw .equalPrefixes(String(reflecting: first), String(reflecting: recordType), prefix)
      }
    }
    latest.store(UInt(bitPattern: ObjectIdentifier(recordType)), ordering: .relaxed)
  }
}
