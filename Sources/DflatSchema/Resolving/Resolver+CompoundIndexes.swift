// Compound indexes: the `index` attribute of a table.
//
// The fields are looked up when all types are known, since a path may lead into tables that are
// declared below.

extension Resolver {
  /// The maximum number of fields in one index.
  static let indexColumnLimit = 32

  /// Enters the indexes of all `index` attributes into their tables.
  func defineCompoundIndexes() {
    for (name, syntax) in indexLists {
      guard case .table(var table) = schema.types[name] else { continue }
      guard let value = syntax.value, !trimmed(value.text).isEmpty else {
        sink.error(
          "the fields are missing", at: syntax.value?.range ?? syntax.name.range,
          notes: [
            .hint("for example (index: \"archived, sort_date; author.handle, title nocase\")")
          ])
        continue
      }
      var ranges: [String: SourceRange] = [:]
      for list in IndexListSyntax(value).indexes {
        guard let index = compoundIndex(list, of: table) else { continue }
        let range = list[0].range
        if let other = ranges.updateValue(range, forKey: index.storageName) {
          sink.error(
            "there is an index of the same fields already", at: range,
            notes: [other.note("it is here")])
          continue
        }
        table.compoundIndexes.append(index)
      }
      schema.types[name] = .table(table)
      if let file = schema.files.first, file.types.contains(name), file.root != name {
        sink.warning(
          "the objects of '\(name)' are not stored by themselves, so this index has no effect",
          at: syntax.name.range,
          notes: [.hint("'index' belongs to the table that 'root_type' names")])
      }
    }
  }

  /// One index of the list; nil if there is an error in it.
  private func compoundIndex(
    _ list: [IndexColumnSyntax], of table: TableDefinition
  ) -> CompoundIndex? {
    var columns: [CompoundIndex.Column] = []
    var ranges: [String: SourceRange] = [:]
    var isUnique = false
    let errors = sink.errorCount
    if list.count > Self.indexColumnLimit {
      sink.error(
        "an index has at most \(Self.indexColumnLimit) fields; this one has \(list.count)",
        at: list[0].range)
      return nil
    }
    for (place, syntax) in list.enumerated() {
      guard let first = syntax.words.first else {
        sink.error(
          "a field is missing", at: syntax.range,
          notes: [.hint("',' stands between the fields of an index, ';' between indexes")])
        continue
      }
      let options = options(syntax, isLast: place == list.count - 1)
      if options.isUnique { isUnique = true }
      guard let column = column(first, in: table, options.folding) else { continue }
      if let other = ranges.updateValue(first.range, forKey: column.path) {
        sink.error(
          "'\(column.name)' is in this index already", at: first.range,
          notes: [other.note("it is here")])
        continue
      }
      columns.append(column)
    }
    guard sink.errorCount == errors, let first = columns.first else { return nil }
    if columns.count == 1, !first.isFolded {
      sink.error(
        "an index of one field is declared on the field", at: list[0].range,
        notes: [.hint("put '(\(isUnique ? "unique" : "indexed"))' on '\(first.name)'")])
      return nil
    }
    return CompoundIndex(columns: columns, isUnique: isUnique, position: list[0].range.position)
  }

  // MARK: The words behind a field

  private func options(
    _ syntax: IndexColumnSyntax, isLast: Bool
  ) -> (folding: IndexWord?, isUnique: Bool) {
    var folding: IndexWord?
    var unique: IndexWord?
    for word in syntax.words.dropFirst() {
      switch word.text {
      case "nocase" where folding == nil && unique == nil: folding = word
      case "unique" where isLast && unique == nil: unique = word
      case "nocase", "unique":
        sink.error(
          word.text == "unique" && !isLast
            ? "'unique' concerns the whole index and stands at its end"
            : folding != nil && unique == nil || word.text == "unique"
              ? "'\(word.text)' is given twice" : "'nocase' stands directly behind its field",
          at: word.range)
      default:
        let meant = nearest(to: String(word.text), among: ["nocase", "unique"])
        sink.error(
          "unknown word '\(word.text)'", at: word.range,
          notes: [
            .hint(
              meant.map { "did you mean '\($0)'?" }
                ?? "behind a field there may be 'nocase', and 'unique' at the end of the index; "
                + "',' stands between fields")
          ])
      }
    }
    return (folding, unique != nil)
  }

  // MARK: Fields

  private func column(
    _ word: IndexWord, in table: TableDefinition, _ folding: IndexWord?
  ) -> CompoundIndex.Column? {
    guard let (field, path) = field(word, in: table), isIndexable(field, word) else { return nil }
    if let folding, field.type != .string {
      sink.error(
        "'\(field.name)' is \(field.type.described), which has no case", at: folding.range,
        notes: [.hint("'nocase' stands behind strings only")])
      return nil
    }
    return CompoundIndex.Column(
      name: String(word.text), path: path, isFolded: folding != nil, field: field.position)
  }

  /// The field that a word names, by a path through tables and structs, and its storage name.
  private func field(
    _ word: IndexWord, in table: TableDefinition
  ) -> (FieldDefinition, path: String)? {
    var owner = table.name
    var fields = table.fields
    var onPath: Set<QualifiedName> = [table.name]
    var path = ""
    var rest = word.text.split(separator: "." as Character, omittingEmptySubsequences: false)[...]
    while let name = rest.popFirst() {
      guard let field = fields.first(where: { $0.name == name }) else {
        let meant = nearest(to: String(name), among: fields.lazy.map(\.name))
        sink.error(
          "'\(owner)' has no field '\(name)'", at: word.range,
          notes: meant.map { [.hint("did you mean '\($0)'?")] } ?? [])
        return nil
      }
      if field.isDeprecated {
        sink.error("'\(name)' is deprecated, so no query can use an index of it", at: word.range)
        return nil
      }
      path += "\(path.isEmpty ? "" : "__")f\(field.offset)"
      if rest.isEmpty { return (field, path) }
      switch field.type {
      case .table(let inner):
        guard case .table(let definition) = schema.types[inner] else { return nil }
        guard onPath.insert(inner).inserted else {
          sink.error(
            "an index does not pass through a table twice, as it would through '\(inner)'",
            at: word.range)
          return nil
        }
        (owner, fields) = (inner, definition.fields)
      case .structure(let inner):
        guard case .structure(let definition) = schema.types[inner] else { return nil }
        (owner, fields) = (inner, definition.fields)
      case .union:
        sink.error(
          "a compound index does not pass through a union, as '\(name)' is one", at: word.range,
          notes: [.hint("'(indexed)' on the fields of its members indexes each by itself")])
        return nil
      case .scalar, .string, .enumeration, .vector, .array:
        sink.error("'\(name)' is \(field.type.described) and has no fields", at: word.range)
        return nil
      }
    }
    return nil
  }

  private func isIndexable(_ field: FieldDefinition, _ word: IndexWord) -> Bool {
    let hint: String
    switch field.type {
    case .scalar, .string, .enumeration: return true
    case .table, .structure: hint = "name a field of it, as in '\(word.text).name'"
    case .union: hint = "'(indexed)' on the field indexes which member it holds"
    case .vector, .array: hint = "keep what is wanted in a field of its own"
    }
    sink.error(
      "'\(word.text)' cannot be indexed: \(field.type.described) has no order", at: word.range,
      notes: [.hint(hint)])
    return false
  }
}
