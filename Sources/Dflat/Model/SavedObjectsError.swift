// SavedObjectsError: objects that were stored outside of a workspace could not be read.

package import StandardConformances

/// Why saved objects cannot be read: those of ``FetchedResult/save(to:)`` and of an encoded
/// ``Draft``.
public enum SavedObjectsError: AdvisedError, Sendable, Equatable {
  /// The objects belong to another table: to another entity type, or to a version of the type that
  /// is stored in a table of its own.
  case otherTable(expected: String, found: String)
  /// The bytes were not saved by Dflat, or by a version that writes another format.
  case otherFormat
  /// The bytes were changed or cut off since they were saved. The reason is for people.
  case damaged(String)

  package var problem: String {
    switch self {
    case .otherTable(let expected, let found):
      "the saved objects belong to the table \(found) and were read as objects of \(expected)"
    case .otherFormat: "the bytes are not objects that this version of Dflat has saved"
    case .damaged(let reason): "the saved objects are damaged: \(reason)"
    }
  }

  package var advice: String? {
    switch self {
    case .otherTable: "read them as the type that they were saved as, or fetch and save them again"
    case .otherFormat, .damaged: "fetch the objects from the workspace and save them again"
    }
  }
}

extension EntitySchema {
  /// A row of bytes that were saved outside of the storage. Like a stored row it may lack required
  /// fields.
  func savedRow(_ bytes: UnsafeRawBufferPointer, id: Int64 = -1) throws(SavedObjectsError) -> Row {
    do { try layout.verify(bytes) } catch { throw .damaged("\(error)") }
    return Row(sound: bytes, id: id)
  }
}
