// What can go wrong in a store.

// Programs catch the engine's errors and choose sizes without importing LMDB, whose other names stay out of their way.
@_exported public import enum LMDB.MDBError
@_exported public import struct LMDB.MapSize

/// An error of a store.
public enum StoreError: Error, Hashable, Sendable {
  /// The transaction of this context has ended.
  case noActiveContext
  /// A transaction of another database was given as the parent.
  case noActiveStore
  /// A key with its tag has more bytes than the storage allows (511).
  case keyBufferOverflow
  /// The fields have more bytes than the storage allows (2³² − 1).
  case valueBufferOverflow
  /// A stored record has another type's tag: the type's name, its tag, the tag that was found.
  case recordPrefixMismatch(String, IndexKeyRecordHash, IndexKeyRecordHash)
  /// A stored record has fields that its type cannot read: the type's name, its version, the version that was found.
  case migrationUnsupported(String, IndexKeyRecordHash, IndexKeyRecordHash)
  /// An index does not fit its records: something else than this library has written the file. Delete the database `empireindexes` in it; the
  /// indexes are then built again.
  case indexDamaged
}
