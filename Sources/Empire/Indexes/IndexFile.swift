// The storage of indexes: a named database beside that of the records. It is created when a record
// type with an index is first written.
//
//   00                                   → id of the last transaction that maintained the indexes
//   01, type's tag                       → fields' version of the indexed records, then the tags
//                                          of the complete indexes
//   02, type's tag, index's tag, values  → key of a record; one value per record
//
// Integers are big-endian, values are in key form; an id has 8 bytes. Invariants of every index
// that is listed under 01:
//
//  - Each record of the type has exactly one entry, made from its stored values, and each entry has
//    a record.
//  - All records of the type have the fields' version that is stored there.
//
// Programs that do not know about indexes, or about one of them, may also write the records. This
// is detected:
//
//  - A program that does not know this database leaves another transaction's id under 00. The whole
//    database is then discarded.
//  - A program that has the type with other indexes or other fields removes the indexes that it
//    does not maintain from the list.
//
// An index that is not listed is rebuilt when a query needs it. An index is therefore either
// correct or absent.

internal import LMDB

/// The keys and values of the index database.
@usableFromInline
enum IndexFile {
  static let name = "empireindexes"
  static let stateKey: [UInt8] = [0]

  static func listKey(_ prefix: IndexKeyRecordHash) -> [UInt8] { [1] + bytes(prefix) }

  /// The number of bytes of `head`.
  static let headSize = 9

  /// The prefix of all entries of an index.
  @usableFromInline
  static func head(_ prefix: IndexKeyRecordHash, _ tag: IndexKeyRecordHash) -> [UInt8] {
    [2] + bytes(prefix) + bytes(tag)
  }

  @usableFromInline static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
  }

  /// The complete indexes of a type.
  struct List: Equatable {
    var version: IndexKeyRecordHash
    var tags: [IndexKeyRecordHash]

    var bytes: [UInt8] { IndexFile.bytes(version) + tags.flatMap { IndexFile.bytes($0) } }

    init(version: IndexKeyRecordHash, tags: [IndexKeyRecordHash]) {
      self.version = version
      self.tags = tags
    }

    /// Returns nil for bytes that are not a list.
    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= 4, bytes.count % 4 == 0 else { return nil }
      let numbers = stride(from: 0, to: bytes.count, by: 4).map {
        IndexKeyRecordHash(
          bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: IndexKeyRecordHash.self))
      }
      self.init(version: numbers[0], tags: Array(numbers[1...]))
    }
  }
}
