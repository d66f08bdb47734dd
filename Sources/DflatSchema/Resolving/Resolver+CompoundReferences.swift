// References by several fields: the attribute `references` of tables.
//
// The fields are named in the order of the fields of the target's key, and each has the type of
// that field. A field may belong to several references.

extension Resolver {
  private static let example =
    "for example (references: \"author: author_site, author_number -> Author\")"

  /// Notes the references of a table's attribute, and their names.
  func collectCompoundReferences(_ syntax: AttributeSyntax, of table: QualifiedName) {
    guard let value = syntax.value, case .string = value.kind,
      !value.text.allSatisfy({ " \t\r\n;".contains($0) })
    else {
      sink.error(
        "the references are missing: 'references' of a table needs them in quotes",
        at: syntax.value?.range ?? syntax.name.range, notes: [.hint(Self.example)])
      return
    }
    switch CompoundReferenceSyntax.list(value) {
    case .success(let list):
      for syntax in list { compoundReferences.append((table, syntax)) }
    case .failure(let problem):
      sink.error(problem.message, at: problem.range, notes: [.hint(Self.example)])
    }
  }

  /// The name of a relation of a table, if a reference by several fields has it.
  func compoundReference(named name: String, of table: QualifiedName) -> SourceRange? {
    compoundReferences.first { $0.table == table && $0.syntax.name.text == name }?.syntax.name.range
  }

  /// Enters all references by several fields into their tables.
  func defineCompoundReferences() {
    for (name, syntax) in compoundReferences {
      guard case .table(var table) = schema.types[name],
        let reference = compoundReference(syntax, in: table)
      else { continue }
      table.compoundReferences.append(reference)
      schema.types[name] = .table(table)
    }
  }

  private func compoundReference(
    _ syntax: CompoundReferenceSyntax, in table: TableDefinition
  ) -> CompoundReference? {
    guard isEntity(table.name) else {
      sink.error(
        "'\(table.name)' cannot refer to '\(syntax.target.text)': its objects are not stored by themselves",
        at: syntax.target.range,
        notes: [.hint("'references' belongs to the table that 'root_type' names")])
      return nil
    }
    guard isName(syntax.name, in: table),
      let fields = fields(syntax, of: table),
      let target = target(
        String(syntax.target.text), at: syntax.target.range, from: table.name.namespace),
      matchKey(fields, syntax, of: target),
      let options = options(syntax, fields.map(\.definition), to: target)
    else { return nil }
    return CompoundReference(
      name: String(syntax.name.text), fields: fields.map(\.definition.name),
      reference: ReferenceDefinition(
        target: target.name, rule: options.rule ?? .nothing, inverse: options.inverse,
        position: syntax.target.range.position, rulePosition: options.ruleRange?.position))
  }

  // MARK: Name

  private func isName(_ word: IndexWord, in table: TableDefinition) -> Bool {
    let name = String(word.text)
    guard isIdentifier(name) else {
      sink.error("'\(name)' is no name for a reference", at: word.range)
      return false
    }
    if let field = table.fields.first(where: { $0.swiftName == name && !$0.isDeprecated }) {
      sink.error(
        "'\(table.name)' has a field '\(name)' already", at: word.range,
        notes: [range(at: field.position, field.name)?.note("declared here")].compactMap { $0 })
      return false
    }
    if table.compoundReferences.contains(where: { $0.name == name }) {
      sink.error(
        "'\(table.name)' has a reference '\(name)' already", at: word.range,
        notes: [compoundReference(named: name, of: table.name)?.note("it is here")]
          .compactMap { $0 })
      return false
    }
    if Self.takenNames.contains(name) {
      sink.error("'\(name)' is the name of something that every entity has", at: word.range)
      return false
    }
    return true
  }

  // MARK: Fields

  private typealias NamedField = (definition: FieldDefinition, word: IndexWord)

  private func fields(
    _ syntax: CompoundReferenceSyntax, of table: TableDefinition
  ) -> [NamedField]? {
    var fields: [NamedField] = []
    for word in syntax.fields {
      guard let field = table.fields.first(where: { $0.name == word.text }) else {
        let meant = nearest(to: String(word.text), among: table.fields.lazy.map(\.name))
        sink.error(
          "'\(table.name)' has no field '\(word.text)'", at: word.range,
          notes: meant.map { [.hint("did you mean '\($0)'?")] } ?? [])
        return nil
      }
      if field.isDeprecated {
        sink.error("'\(field.name)' is deprecated and refers to nothing", at: word.range)
        return nil
      }
      if let other = fields.first(where: { $0.definition.name == field.name }) {
        sink.error(
          "'\(field.name)' is in this reference already", at: word.range,
          notes: [other.word.range.note("it is here")])
        return nil
      }
      guard field.type.isScalar || field.type == .string else {
        sink.error(
          "'\(field.name)' cannot refer to '\(syntax.target.text)': \(field.type.described) is no part of a key",
          at: word.range, notes: [.hint("name scalars, strings and enums of the table itself")])
        return nil
      }
      fields.append((field, word))
    }
    return fields
  }

  /// Whether the fields have the types of the target's key; reports it if not.
  private func matchKey(
    _ fields: [NamedField], _ syntax: CompoundReferenceSyntax, of target: TableDefinition
  ) -> Bool {
    let keys = target.fields.filter(\.isPrimary)
    let notes = keys.prefix(1).compactMap {
      range(at: $0.position, $0.name)?.note("the key is declared here")
    }
    if keys.count == 1, fields.count == 1 {
      sink.error(
        "a reference of one field is declared on the field", at: fields[0].word.range,
        notes: [.hint("put '(references: \"\(target.name)\")' on '\(fields[0].word.text)'")])
      return false
    }
    if keys.count != fields.count {
      let list = keys.map { "'\($0.name)'" }.joined(separator: ", ")
      sink.error(
        "'\(syntax.name.text)' has \(fields.count) field\(fields.count == 1 ? "" : "s"), and the primary key of '\(target.name)' has \(keys.count)",
        at: fields[0].word.range.through(fields[fields.count - 1].word.range),
        notes: notes + (keys.isEmpty ? [] : [.hint("the key is \(list), in this order")]))
      return false
    }
    return zip(fields, keys).allSatisfy { field, key in
      hasType(of: key, in: target, field.definition, type: field.definition.type, field.word.range)
    }
  }

  // MARK: Options

  private struct Options {
    var rule: DeletionRule?
    var ruleRange: SourceRange?
    var inverse: String?
  }

  /// What the words behind the entity say; nil if one of them is wrong.
  private func options(
    _ syntax: CompoundReferenceSyntax, _ fields: [FieldDefinition], to target: TableDefinition
  ) -> Options? {
    var options = Options()
    let errors = sink.errorCount
    var words = syntax.options[...]
    while let word = words.popFirst() {
      let value = words.popFirst()
      let range = value?.range ?? word.range
      switch word.text {
      case "ondelete" where options.ruleRange == nil:
        options.ruleRange = word.range
        options.rule = rule(named: value.map { String($0.text) }, at: range)
        if options.rule == .nullify { for field in fields { checkCanBeEmpty(field, at: range) } }
      case "inverse" where options.inverse == nil:
        options.inverse = inverse(named: value.map { String($0.text) } ?? "", at: range, in: target)
        if options.inverse == nil { return nil }
      case "ondelete", "inverse": sink.error("'\(word.text)' is given twice", at: word.range)
      default:
        let meant = nearest(to: String(word.text), among: ["ondelete", "inverse"])
        sink.error(
          "unknown word '\(word.text)'", at: word.range,
          notes: [
            .hint(
              meant.map { "did you mean '\($0)'?" }
                ?? "behind the entity there may be 'ondelete' with a rule and 'inverse' with a name; "
                + "';' stands between references")
          ])
        return nil
      }
    }
    return sink.errorCount == errors ? options : nil
  }
}
