// The requirements on the root of the compiled file: a primary key, a name that SQLite accepts for
// a table, and a limited number of indexes.
//
// Included files are compiled on their own; their roots are not checked here.

extension Resolver {
  func checkRoot() {
    guard let root = schema.files.first?.root, let range = rootRange(of: 0),
      case .table(let table) = schema.types[root]
    else { return }
    if !table.fields.contains(where: \.isPrimary) {
      sink.error(
        "the root '\(root)' has no primary key", at: range,
        notes: [ranges[root]?.note("add '(primary)' to a scalar, string or enum field of it")]
          .compactMap { $0 })
    }
    let tableName = schema.tableName(of: root)
    if tableName.hasPrefix("sqlite_") {
      sink.error(
        "the root '\(root)' cannot be stored: its table would be '\(tableName)', and SQLite keeps "
          + "names that begin with 'sqlite_' for itself", at: range,
        notes: [.hint("rename the \(root.namespace.isEmpty ? "table" : "namespace")")])
    }
    checkFullText(of: root, at: range)
    if schema.hasTooManyIndexPaths(root) {
      sink.error(
        "the root '\(root)' has more than \(Schema.indexPathLimit) indexes", at: range,
        notes: [
          .hint(
            "an 'indexed' or 'unique' field counts once for every way to it through references "
              + "and unions")
        ])
    }
  }

  /// The source range of a name at a position.
  func range(at position: SourcePosition, _ name: String) -> SourceRange? {
    guard let file = sources.first(where: { $0.path == position.file }) else { return nil }
    let start = file.offset(of: position)
    return SourceRange(
      file: file, start: start, end: min(start + name.utf8.count, file.bytes.count))
  }
}
