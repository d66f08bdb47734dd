// Where indexes are stored: a named database of its own, beside that of the records, made when a type with an index is first written.
//
//   00                                      → the id of the last transaction that kept the indexes, 8 bytes
//   01, type's tag                          → the fields' version of the indexed records, then the tags of the indexes that are complete
//   02, type's tag, index's tag, values     → the key of a record; one value for each record with these values
//
// Integers are big-endian, values are in key form. Kept true, of every index that stands under 01:
//
//  - each record of the type has exactly one entry, made from its stored values, and each entry has its record;
//  - all records of the type have the fields' version that stands there.
//
// Programs that know nothing of indexes, or not of this one, may write the records. They are found out: one that does not know this database
// leaves another transaction's id under 00, and then all of it is void; one that has the type with other indexes or other fields strikes those
// that it does not keep off the list. What is not on the list is built again when a query asks for it. So an index is right or absent.

internal import LMDB

/// The keys and values of the database of indexes.
@usableFromInline
enum IndexFile {
  static let name = "empireindexes"
  static let stateKey: [UInt8] = [0]

  static func listKey(_ prefix: IndexKeyRecordHash) -> [UInt8] { [1] + bytes(prefix) }

  /// The number of bytes of `head`.
  static let headSize = 9

  /// What all entries of an index begin with.
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

    /// Nil for bytes that are no list.
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
