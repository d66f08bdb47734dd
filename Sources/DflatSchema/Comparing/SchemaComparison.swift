// The entry point for comparisons: takes two schemas and returns their differences.

/// Compares two versions of a schema, with regard to data stored with the older one and to programs
/// of both versions that share a file.
///
/// Types, fields, enum values and union members are identified by position: fields by slots, values
/// by numbers, members by tags, and types by the fields that refer to them, starting at the roots.
/// A name expresses the programmer's intention, so a name that is found at another position has
/// moved. Types that no root refers to are compared by name.
///
///     let compiler = SchemaCompiler()
///     guard let old = compiler.compile(file: "old/post.fbs").schema,
///       let new = compiler.compile(file: "post.fbs").schema
///     else { return }
///     let comparison = SchemaComparison(old: old, new: new)
///     for change in comparison.changes where change.severity == .incompatible {
///       print(change.subject, change.message, change.effect)
///     }
public struct SchemaComparison: Sendable {
  /// All differences, by position in the new version: file by file, from top to bottom.
  public let changes: [SchemaChange]

  /// Whether stored data stays readable, in both directions.
  public var isCompatible: Bool { !changes.contains { $0.severity == .incompatible } }

  /// Compares two versions.
  ///
  /// It works on any thread and cannot fail. It takes linear time in all but contrived cases.
  ///
  /// - Parameters:
  ///   - old: The schema with which the data was stored.
  ///   - new: The schema with which it is to be read.
  public init(old: Schema, new: Schema) {
    var comparer = Comparer(old: old, new: new)
    comparer.compareAll()
    var ranks: [String: Int] = [:]
    for (rank, file) in new.files.enumerated() where ranks[file.path] == nil {
      ranks[file.path] = rank
    }
    changes = comparer.changes.enumerated().sorted { left, right in
      let (a, b) = (left.element, right.element)
      return
        (ranks[a.new.file] ?? .max, a.new.line, a.new.column, a.old.line, a.old.column, left.offset)
        < (
          ranks[b.new.file] ?? .max, b.new.line, b.new.column, b.old.line, b.old.column,
          right.offset
        )
    }.map(\.element)
  }
}
