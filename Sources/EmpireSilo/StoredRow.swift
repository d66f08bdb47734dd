// StoredRow: a value's canonical representation as a record.
//
// Keys of LMDB are short, and ids may be long: the record's key has a hash of the id, and the row
// itself tells values with the same hash apart. The number keeps the order of insertion. For
// integers the hash is the id itself, so that records are in the order of their ids.

import Empire
import Foundation

@IndexKeyRecord("table", "hash", "number")
struct StoredRow {
  /// The table of the entity, with its version.
  let table: String
  /// The hash of the id; see `hash(of:)`.
  let hash: UInt64
  /// The number of the row in its table, from 1 up.
  let number: Int64
  /// The canonical bytes.
  let bytes: Data
}

/// What is known about a table. Both are kept when one of them changes: the name of a table may be
/// that of another one with its version.
@IndexKeyRecord("name")
struct TableState {
  /// The table; with a version for `lastNumber`, without one for `version`.
  let name: String
  /// The number of the row that was inserted last.
  let lastNumber: Int64
  /// The version of the table's values; 0 if there is none.
  let version: Int
}

/// The last change of a table. Other domains of the same directory observe it.
@IndexKeyRecord("table")
struct SiloTableChange {
  /// The table, with its version.
  let table: String
  /// The random number of the domain that has made it.
  let domain: UInt64
  /// Another number each time.
  let number: UInt64
}

/// The hash of an id, which is part of the file format: of an integer, what `order(of:)` says;
/// otherwise FNV-1a.
func hash(of key: some Any) -> UInt64 {
  if let integer = key as? any FixedWidthInteger { return order(of: integer) }
  return textHash("\(key)".utf8)
}

/// FNV-1a over the bytes of a text.
func textHash(_ text: some Sequence<UInt8>) -> UInt64 {
  text.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
}

/// An integer of at most 64 bits as one without a sign, in the same order.
func order<Key: FixedWidthInteger>(of key: Key) -> UInt64 {
  Key.isSigned
    ? UInt64(bitPattern: Int64(truncatingIfNeeded: key)) ^ (1 << 63)
    : UInt64(truncatingIfNeeded: key)
}
