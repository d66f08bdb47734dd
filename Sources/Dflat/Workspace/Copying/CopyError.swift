// CopyError: why a workspace could not be copied.

package import StandardConformances

/// Why a workspace could not be copied. The source is never changed.
public enum CopyError: AdvisedError, Sendable {
  /// The call named no types.
  case noTypes
  /// Two of the types, which are not the same, have this table.
  case sameTable(String)
  /// The target is the source, or has the same storage.
  case ontoItself
  /// The target has objects that no copy has stored there. `table` is nil for its dictionaries.
  /// Nothing was changed.
  case targetNotEmpty(table: String?, count: Int)
  /// Objects that an unfinished copy had stored in the target were changed, or others were added.
  /// Nothing was changed. `table` is nil for its dictionaries.
  case targetChanged(table: String?, expected: CopiedContents, found: CopiedContents)
  /// The target cannot store an object: another one has its key or unique value there, a value does
  /// not fit, or the table there was made for another schema. The objects before it are stored.
  case refused(table: String, rowid: Int64, StorageError)
  /// So many objects of the source are damaged.
  case damaged(table: String, count: Int)
  /// The target does not have what was copied into it. `table` is nil for the dictionaries.
  case verificationFailed(table: String?, source: CopiedContents, target: CopiedContents)
  /// Other programs go on changing the source, faster than their changes can be copied.
  case sourceKeepsChanging

  package var problem: String {
    switch self {
    case .noTypes: "copy(to:) was called without an entity type"
    case .sameTable(let table): "two of the types to copy have the table \(table)"
    case .ontoItself: "a workspace cannot be copied onto itself"
    case .targetNotEmpty(let table, let count):
      "\(Self.place(table)) of the target has \(count) \(Self.things(table, count)) "
        + "that were not stored by this copy"
    case .targetChanged(let table, let expected, let found):
      "\(Self.place(table)) of the target was changed since the copy was interrupted: "
        + "it has \(found), and had \(expected)"
    case .refused(let table, let rowid, let error):
      "table \(table), row \(rowid) of the source cannot be stored in the target: \(error)"
    case .damaged(let table, let count):
      "\(count) \(count == 1 ? "object" : "objects") of the source's table \(table) cannot be read"
    case .verificationFailed(let table, let source, let target):
      "\(Self.place(table)) of the target differs from the source: "
        + "it has \(target), and the source \(source)"
    case .sourceKeepsChanging: "other programs go on changing the source while it is copied"
    }
  }

  package var advice: String? {
    switch self {
    case .noTypes: "name the types: copy(Post.self, Author.self, to: target)"
    case .sameTable: "pass only one of them: the other type reads the same objects"
    case .ontoItself: "copy to a workspace with a storage of its own"
    case .targetNotEmpty: "copy to a storage without objects of these types, or delete them first"
    case .targetChanged, .verificationFailed:
      "let nothing else write to the target during a copy; delete what it has, and copy again"
    case .refused: "change the object in the source, and call copy again, which goes on from there"
    case .damaged: "see the source's error handler for their rows; delete or repair them"
    case .sourceKeepsChanging:
      "stop the other programs until the copy ends, and call copy(to:) again"
    }
  }

  private static func place(_ table: String?) -> String {
    table.map { "table \($0)" } ?? "the dictionary"
  }

  private static func things(_ table: String?, _ count: Int) -> String {
    (table == nil ? "value" : "object") + (count == 1 ? "" : "s")
  }
}
