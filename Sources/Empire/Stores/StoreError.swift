// The errors of a store.

public import Foundation
internal import StandardConformances

// Re-exported so that programs can catch LMDB's errors and choose map sizes without importing all
// of LMDB.
@_exported public import enum LMDB.MDBError
@_exported public import struct LMDB.MapSize

/// An error of a store.
public enum StoreError: MatchableError, Hashable, Sendable {
  /// The transaction of this context has ended.
  case noActiveContext
  /// A transaction of another directory was given as the parent.
  case noActiveStore
  /// A key, or the values of an index, are longer than the storage allows. `keyBufferOverflow`
  /// matches any of them.
  case keyTooLong(TooLongKey)
  /// The fields have more bytes than the storage allows. `valueBufferOverflow` matches any of them.
  case valueTooLong(TooLongValue)
  /// A stored record has the tag of another type: the type's name, its tag, the tag that was found.
  case recordPrefixMismatch(String, IndexKeyRecordHash, IndexKeyRecordHash)
  /// A stored record has fields that its type cannot read: the type's name, its version, the
  /// version that was found.
  case migrationUnsupported(String, IndexKeyRecordHash, IndexKeyRecordHash)
  /// Migration gives a stored record the key of another record, which would be lost: the type's
  /// name, the key of the outdated record, the key that it would get. Nothing was changed.
  case migratedKeyTaken(String, stored: String, migrated: String)
  /// Two types whose tags are hashes of their names have the same tag, so each would read the
  /// other's records as its own.
  case equalPrefixes(String, String, IndexKeyRecordHash)
  /// A query's components are not of the types that the record's key begins with.
  case queryMismatch(QueryMismatch)
  /// The bytes that are stored under a key cannot be read: the type's name, the key, what is wrong
  /// with the bytes.
  case unreadableRecord(String, key: String, reason: DeserializeError)
  /// A stored key, or what is stored under it, has more bytes than its type stores, so another
  /// type has written it: the type's name, the key, the number of bytes that are left.
  case surplusBytes(String, key: String, count: Int)
  /// An index does not match its records: the file was written by something other than this
  /// library. Delete the database `empireindexes` in it; the indexes are then rebuilt.
  case indexDamaged

  /// A key with its tag is longer than 511 bytes, or the values of an index are longer than 502
  /// bytes.
  public static var keyBufferOverflow: StoreError {
    .keyTooLong(TooLongKey(record: nil, property: nil, key: nil, bytes: nil, index: nil))
  }
}

extension StoreError {
  /// The fields of a record have more bytes than the storage allows (2³² − 1, with their tag).
  public static var valueBufferOverflow: StoreError {
    .valueTooLong(TooLongValue(record: nil, key: nil, property: nil, bytes: nil))
  }
}

/// Fields that are too long. All values compare equal, so that `StoreError.valueBufferOverflow`
/// matches any of them.
public struct TooLongValue: Sendable, Hashable {
  /// The type of the record; nil if it is not known.
  public let record: String?
  /// The record's key.
  public let key: String?
  /// The longest of the properties, if it is known.
  public let property: String?
  /// The number of bytes of all fields, if it is known.
  public let bytes: Int?

  /// Always true: the details do not matter when errors are compared.
  public static func == (lhs: Self, rhs: Self) -> Bool { true }

  /// Hashes nothing, because all values are equal.
  ///
  /// - Parameter hasher: Not changed.
  public func hash(into hasher: inout Hasher) {}
}

/// A key, or the values of an index, that are too long. All values compare equal, so that
/// `StoreError.keyBufferOverflow` matches any of them.
public struct TooLongKey: Sendable, Hashable {
  /// The type of the record; nil if it is not known.
  public let record: String?
  /// The longest of the properties, if it is known.
  public let property: String?
  /// The record's key, if the values of an index are too long.
  public let key: String?
  /// The number of bytes, if it is known: of the key with its tag, or of the values of the index.
  public let bytes: Int?
  /// The names of the index's properties, if the values of an index are too long; nil for a key.
  public let index: [String]?

  /// The maximum number of bytes.
  public var limit: Int { index == nil ? maximumKeySize : maximumKeySize - IndexFile.headSize }

  /// Always true: the details do not matter when errors are compared.
  public static func == (lhs: Self, rhs: Self) -> Bool { true }

  /// Hashes nothing, because all values are equal.
  ///
  /// - Parameter hasher: Not changed.
  public func hash(into hasher: inout Hasher) {}
}

/// A query whose components do not match those of a record's key.
public struct QueryMismatch: Sendable, Hashable {
  /// The type of the record.
  public let record: String
  /// The name of the first component that does not match, or its number.
  public let component: String
  /// Its type in the key; nil if the query has more components than the key.
  public let expected: String?
  /// Its type in the query.
  public let given: String
}

extension StoreError: LocalizedError, CustomStringConvertible {
  /// What happened, to which record, and what to do.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  private var problem: String {
    switch self {
    case .noActiveContext: "the context is used after its transaction has ended"
    case .noActiveStore: "the parent is a transaction of another directory"
    case .keyTooLong(let key): key.description
    case .valueTooLong(let value): value.description
    case .recordPrefixMismatch(let type, let expected, let found):
      "a stored record has the prefix \(found), and \(type) has \(expected)"
    case .migrationUnsupported(let type, let current, let stored):
      "a stored \(type) has the fields' version \(stored), which \(type) cannot read: it has "
        + "\(current), and no deserialize(with:version:) for \(stored)"
    case .migratedKeyTaken(let type, let stored, let migrated):
      "the outdated \(type) with the key \(stored) cannot be migrated: it would get the key "
        + "\(migrated), and replace the record that has it"
    case .equalPrefixes(let first, let second, let prefix):
      "the types \(first) and \(second) have the same prefix \(prefix), so each would read the "
        + "other's records"
    case .queryMismatch(let mismatch): mismatch.description
    case .unreadableRecord(let type, let key, let reason):
      "the \(type) with the key \(key) cannot be read: \(reason.problem)"
    case .surplusBytes(let type, let key, let count):
      "a record of \(type) with the key \(key) is stored with \(count) surplus byte"
        + (count == 1 ? "" : "s") + ", so it cannot be read"
    case .indexDamaged: "an index in the database 'empireindexes' does not fit its records"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    switch self {
    case .noActiveContext: "use a context only inside of its closure, and return records instead"
    case .noActiveStore: "pass a transaction of the same directory"
    case .keyTooLong: "shorten the value, or put a hash of it in its place"
    case .valueTooLong: "divide the value among several records"
    case .recordPrefixMismatch: "read the record with the type that it was stored with"
    case .migrationUnsupported: "implement deserialize(with:version:) in the body of the type"
    case .migratedKeyTaken:
      "delete one of them by its key; a read-only transaction reads both. If the other one is "
        + "outdated, too, and moves to a third key, select both in one query"
    case .equalPrefixes: "give one of them a 'keyPrefix:' of its own"
    case .queryMismatch(let mismatch): mismatch.recoverySuggestion
    case .unreadableRecord:
      "delete it by its key; if the types of the fields have changed, give them another version"
    case .surplusBytes:
      "if the types of the key have changed, give the type another 'keyPrefix:', and if those of the fields have, another 'fieldsVersion:'; delete the record with deleteAll(of:), or a query of less than the whole key"
    case .indexDamaged:
      "delete the database 'empireindexes' of the file; its indexes are then built again"
    }
  }
}

extension TooLongKey: CustomStringConvertible {
  /// What is too long, and how long it may be.
  public var description: String {
    let has = bytes.map { "has \($0) bytes" } ?? "has more bytes"
    guard let record else { return "a key \(has), and the storage allows \(limit)" }
    let longest = property.map { "; its longest property is '\($0)'" } ?? ""
    guard let index else {
      return "the key of \(record) \(has), and the storage allows \(limit)\(longest)"
    }
    let owner = key.map { " of the record with the key \($0)" } ?? ""
    return "the index of \(record) by \(index.joined(separator: ", "))\(owner) \(has), "
      + "and an index allows \(limit)\(longest)"
  }
}

extension TooLongValue: CustomStringConvertible {
  /// What is too long, and how long it may be.
  public var description: String {
    let owner = record.map { "the \($0)" } ?? "a record"
    let name = key.map { " with the key \($0)" } ?? ""
    let has = bytes.map { "has \($0) bytes" } ?? "has more bytes"
    let longest = property.map { "; its longest property is '\($0)'" } ?? ""
    return "\(owner)\(name) \(has) in its fields, and the storage allows \(maximumFieldsSize)"
      + longest
  }
}

extension QueryMismatch: CustomStringConvertible {
  /// Which component does not match, and why.
  public var description: String {
    guard let expected else {
      return "a query of \(record) has more components than its key: \(component) is \(given)"
    }
    return "a query of \(record) has the type \(given) for \(component), which is \(expected)"
  }

  fileprivate var recoverySuggestion: String {
    "use the functions that @IndexKeyRecord generates, as \(record).query(…), which take only "
      + "the right types" + (expected.map { "; or convert the value to \($0)" } ?? "")
  }
}
