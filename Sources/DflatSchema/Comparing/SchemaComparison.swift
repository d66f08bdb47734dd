// The way in: two schemas in, their differences out.

/// Compares two versions of a schema, for what is stored with the older one and for programs of both that use one file.
///
/// Types, fields, enum values and union members are known by their places: fields by slots, values by numbers, members by
/// tags, and types by the fields that refer to them, beginning at the roots. Names say which of them a programmer
/// means, so a name that is found at another place has moved. Types that no root refers to are compared by name.
///
///     let compiler = SchemaCompiler()
///     guard let old = compiler.compile(file: "old/post.fbs").schema,
///       let new = compiler.compile(file: "post.fbs").schema
///     else { return }
///     for change in SchemaComparison(old: old, new: new).changes where change.severity == .incompatible {
///       print(change.subject, change.message, change.effect)
///     }
public struct SchemaComparison: Sendable {
  /// All differences, by place in the new version: file by file, from top to bottom.
  public let changes: [SchemaChange]

  /// Whether stored data stay readable, both ways.
  public var isCompatible: Bool { !changes.contains { $0.severity == .incompatible } }

  /// Compares two versions.
  ///
  /// It works on any thread, takes time in proportion to the schemas' sizes in all but contrived cases, and cannot fail.
  ///
  /// - Parameters:
  ///   - old: What rows were stored with.
  ///   - new: What they are to be read with.
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
