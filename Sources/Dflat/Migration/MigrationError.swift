// MigrationError: an object that could not be migrated and stops its migration.

package import StandardConformances

/// An object that could not be migrated. It is left unchanged, and so are the objects after it;
/// those before it are migrated.
public struct MigrationError: AdvisedError, Sendable {
  /// Why the object could not be migrated.
  public enum Cause: Sendable {
    /// The function threw this error.
    case function(any Error)
    /// The key, or a unique value, of the new object is already used by objects of the new type in
    /// these rows.
    case alreadyExists(StorageError, rows: [Int64])
    /// The object that the function made cannot be stored.
    case unstorable(StorageError)
  }

  /// Why the object could not be migrated.
  public let cause: Cause
  /// The table of the old object.
  public let table: String
  /// The old object's row in it.
  public let rowid: Int64
  /// The table of the new type.
  public let newTable: String

  package var problem: String {
    let start = "the object in row \(rowid) of \(table) cannot be migrated to \(newTable): "
    switch cause {
    case .function(let error): return start + "the migration's function threw \(error)"
    case .unstorable(let error): return start + "\(error)"
    case .alreadyExists(let error, let rows):
      let places = rows.map { "\($0)" }.joined(separator: ", ")
      return start + "row \(places) there has its \(error.key ?? "key")"
    }
  }

  package var advice: String? {
    switch cause {
    case .function:
      "let the function return nil for objects without a successor, or change this one, and migrate again"
    case .alreadyExists: "change one of the two objects, or the function, and migrate again"
    case .unstorable: "let the function make an object that can be stored, and migrate again"
    }
  }
}
