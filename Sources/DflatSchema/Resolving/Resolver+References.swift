// References: the attributes `references`, `ondelete` and `inverse` of fields.
//
// Targets are looked up when all types are known, so a reference may name an entity that is
// declared below, or the type that it is in. The field's type is that of the target's key, so the
// value of one is a value of the other.

extension Resolver {
  static let referenceAttributes: Set<String> = ["references", "ondelete", "inverse"]

  /// Notes the references of a table; reports those that no field of its type can have.
  func collectReferences(_ drafts: [FieldDraft], of table: QualifiedName) {
    for draft in drafts {
      guard let syntax = draft.attributes["references"] else {
        for name in ["ondelete", "inverse"] {
          guard let stray = draft.attributes[name] else { continue }
          sink.error(
            "'\(name)' belongs to a reference, and '\(draft.syntax.name.text)' refers to nothing",
            at: stray.name.range, notes: [.hint("for example (references: \"Author\", …)")])
        }
        continue
      }
      references.append((table, draft, syntax))
    }
  }

  /// Enters all references into their fields.
  func defineReferences() {
    for (name, draft, syntax) in references {
      guard case .table(var table) = schema.types[name],
        let place = table.fields.firstIndex(where: { $0.name == draft.syntax.name.text }),
        let reference = reference(draft, syntax, in: table)
      else { continue }
      table.fields[place].reference = reference
      schema.types[name] = .table(table)
    }
  }

  private func reference(
    _ draft: FieldDraft, _ syntax: AttributeSyntax, in table: TableDefinition
  ) -> ReferenceDefinition? {
    let field = draft.definition
    guard let value = syntax.value, case .string = value.kind, !value.text.isEmpty else {
      sink.error(
        "the entity is missing: 'references' needs its name in quotes",
        at: syntax.value?.range ?? syntax.name.range,
        notes: [.hint("for example (references: \"Author\")")])
      return nil
    }
    guard isEntity(table.name) else {
      sink.error(
        "'\(field.name)' cannot refer to '\(value.text)': the objects of '\(table.name)' are not stored by themselves",
        at: syntax.name.range,
        notes: [.hint("'references' belongs to the fields of the table that 'root_type' names")])
      return nil
    }
    if field.isDeprecated {
      sink.error("'\(field.name)' is deprecated and refers to nothing", at: syntax.name.range)
      return nil
    }
    guard let target = target(value.text, at: value.range, from: table.name.namespace),
      hasKeyType(field, of: target, syntax)
    else { return nil }
    var rule: DeletionRule?
    if let syntax = draft.attributes["ondelete"] {
      let range = syntax.value?.range ?? syntax.name.range
      rule = self.rule(named: syntax.value?.text, at: range)
      if rule == .nullify { checkCanBeEmpty(field, at: range) }
    }
    let inverse = draft.attributes["inverse"].flatMap { syntax in
      self.inverse(
        named: syntax.value?.text ?? "", at: syntax.value?.range ?? syntax.name.range, in: target)
    }
    return ReferenceDefinition(
      target: target.name, rule: rule ?? .nothing, inverse: inverse,
      position: value.range.position,
      rulePosition: draft.attributes["ondelete"]?.name.range.position)
  }

  // MARK: Type

  /// Whether the field, or its elements, have the type of the target's key; reports it if not.
  private func hasKeyType(
    _ field: FieldDefinition, of target: TableDefinition, _ syntax: AttributeSyntax
  ) -> Bool {
    var type = field.type
    if case .vector(let element) = type { type = element }
    guard type.isScalar || type == .string else {
      sink.error(
        "'\(field.name)' cannot refer to '\(target.name)': \(type.described) is no key",
        at: syntax.name.range,
        notes: [.hint("a reference is a scalar, a string, an enum, or a vector of these")])
      return false
    }
    let keys = target.fields.filter(\.isPrimary)
    guard let key = keys.first else {
      sink.error(
        "'\(field.name)' cannot refer to '\(target.name)', which has no primary key",
        at: syntax.name.range)
      return false
    }
    if keys.count > 1 {
      let note = range(at: key.position, key.name)?.note("the key is declared here")
      let list = keys.map { "… \($0.name)" }.joined(separator: ", ")
      sink.error(
        "'\(field.name)' cannot refer to '\(target.name)': its primary key has \(keys.count) fields",
        at: syntax.name.range,
        notes: [
          note,
          .hint(
            "a table refers to it by as many fields: (references: \"name: \(list) -> \(target.name)\")"
          ),
        ].compactMap { $0 })
      return false
    }
    return hasType(of: key, in: target, field, type: type, syntax.name.range)
  }
}
