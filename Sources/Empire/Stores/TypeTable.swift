// Which types of record a directory has met, so that two that would share records by accident are told apart.
//
// A type's tag is by default a hash of its name. Two types with the same name, of different modules or files, have the same one, and so may
// two names. A tag that a program gives is its own business: that is how migrations read the records of an older type.

internal import Platform

/// The types of record that a directory has met.
@usableFromInline
final class TypeTable: Sendable {
  private let types = Mutex<[IndexKeyRecordHash: any IndexKeyRecord.Type]>([:])
  /// The type that was found right last. Most calls that follow one another are about one type and need no lock.
  private let latest = Atomic<UInt>(0)

  /// Whether a type has been found right, as far as can be told at once.
  func knows(_ type: ObjectIdentifier) -> Bool {
    latest.load(ordering: .relaxed) == UInt(bitPattern: type)
  }

  /// Throws if another type has the same tag by accident.
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
