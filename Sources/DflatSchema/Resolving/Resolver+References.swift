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
    var inverses: [QualifiedName: [String: SourceRange]] = [:]
    for (name, draft, syntax) in references {
      guard case .table(var table) = schema.types[name],
        let place = table.fields.firstIndex(where: { $0.name == draft.syntax.name.text }),
        let reference = reference(draft, syntax, in: table)
      else { continue }
      if let inverse = reference.inverse, let range = draft.attributes["inverse"]?.value?.range {
        let other = inverses[reference.target, default: [:]].updateValue(range, forKey: inverse)
        inverses[reference.target, default: [:]][inverse] = range
        if let other {
          sink.error(
            "'\(reference.target)' has an inverse '\(inverse)' already", at: range,
            notes: [other.note("it is here")])
        }
      }
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
    guard let target = target(value, from: table.name.namespace),
      hasKeyType(field, of: target, syntax)
    else { return nil }
    let rule = rule(draft, to: target)
    return ReferenceDefinition(
      target: target.name, rule: rule ?? .nothing, inverse: inverse(draft, in: target),
      position: value.range.position,
      rulePosition: draft.attributes["ondelete"]?.name.range.position)
  }

  // MARK: Target

  /// Whether a table is the root of the file that declares it.
  private func isEntity(_ name: QualifiedName) -> Bool {
    schema.files.contains { $0.root == name }
  }

  /// The entity with a name, which is relative to the namespace or one around it, or absolute.
  private func target(
    _ value: ValueSyntax, from namespace: [String]
  ) -> TableDefinition? {
    let parts = value.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for depth in (0...namespace.count).reversed() {
      let name = QualifiedName(
        namespace: Array(namespace[..<depth]) + parts.dropLast(), name: parts.last ?? "")
      guard let definition = schema.types[name] else { continue }
      guard case .table(let table) = definition, isEntity(name) else {
        sink.error(
          "'\(name)' cannot be referred to: it is no entity", at: value.range,
          notes: [
            ranges[name]?.note("it is declared here, and no 'root_type' names it"),
            .hint("an entity is the table that 'root_type' names in the file that declares it"),
          ].compactMap { $0 })
        return nil
      }
      return table
    }
    unknownType(PathSyntax(parts: parts, range: value.range), ofReferenceIn: namespace)
    return nil
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
    let note = range(at: key.position, key.name)?.note("the key is declared here")
    if keys.count > 1 {
      sink.error(
        "'\(field.name)' cannot refer to '\(target.name)': its primary key has \(keys.count) fields",
        at: syntax.name.range,
        notes: [note, .hint("give '\(target.name)' a key of one field")].compactMap { $0 })
      return false
    }
    if key.type != type {
      sink.error(
        "'\(field.name)' is \(field.type), and the primary key of '\(target.name)', '\(key.name)', is \(key.type)",
        at: syntax.name.range,
        notes: [note, .hint("a reference has the type of the key")].compactMap { $0 })
      return false
    }
    if key.swiftType != field.swiftType {
      let swift = key.attributes.first { $0.name == "swift" }?.value
      sink.error(
        "'\(field.name)' has another Swift type than the primary key of '\(target.name)', '\(key.name)'",
        at: syntax.name.range,
        notes: [
          note,
          .hint(swift.map { "add (swift: \"\($0)\")" } ?? "leave 'swift' out, as the key does"),
        ].compactMap { $0 })
      return false
    }
    return true
  }

  // MARK: Rule

  private func rule(_ draft: FieldDraft, to target: TableDefinition) -> DeletionRule? {
    guard let syntax = draft.attributes["ondelete"] else { return nil }
    let names = DeletionRule.allCases.map(\.rawValue)
    guard let rule = DeletionRule(rawValue: syntax.value?.text ?? "") else {
      let guess = syntax.value.flatMap { nearest(to: $0.text, among: Set(names)) }
      sink.error(
        syntax.value.map { "unknown rule '\($0.text)'" } ?? "the rule is missing",
        at: syntax.value?.range ?? syntax.name.range,
        notes: [
          .hint(
            (guess.map { "did you mean '\($0)'? " } ?? "")
              + "the rules are \(names.map { "\"\($0)\"" }.joined(separator: ", "))")
        ])
      return nil
    }
    let field = draft.definition
    if rule == .nullify, !field.canBeEmpty {
      let isScalar = field.type.isScalar && !field.isPrimary
      sink.error(
        "the rule \"nullify\" cannot be kept: '\(field.name)' always has a value",
        at: syntax.value?.range ?? syntax.name.range,
        notes: [
          .hint(
            isScalar
              ? "let it be empty: \(field.name): … = null"
              : "it can be empty without 'primary', 'required' and a default; otherwise the rule is \"cascade\" or \"deny\""
          )
        ])
    }
    return rule
  }

  // MARK: Inverse

  /// Names that every entity has.
  private static let takenNames: Set<String> = [
    "id", "description", "hashValue", "hash", "encode", "from", "toData", "init", "self", "Type",
    "Protocol", "ID", "Element",
  ]

  private func inverse(_ draft: FieldDraft, in target: TableDefinition) -> String? {
    guard let syntax = draft.attributes["inverse"] else { return nil }
    let range = syntax.value?.range ?? syntax.name.range
    let text = syntax.value?.text ?? ""
    guard let first = text.utf8.first, isIdentifierStart(first),
      text.utf8.allSatisfy({ isIdentifierStart($0) || isDigit($0) })
    else {
      sink.error(
        "'inverse' needs a name in quotes", at: range,
        notes: [.hint("for example (inverse: \"posts\")")])
      return nil
    }
    if let field = target.fields.first(where: { $0.swiftName == text && !$0.isDeprecated }) {
      sink.error(
        "'\(target.name)' has a field '\(text)' already", at: range,
        notes: [self.range(at: field.position, field.name)?.note("declared here")].compactMap { $0 }
      )
      return nil
    }
    if Self.takenNames.contains(text) {
      sink.error("'\(text)' is the name of something that every entity has", at: range)
      return nil
    }
    return text
  }
}

extension FieldDefinition {
  /// Whether the field of an object may have no value, or as a vector no elements.
  var canBeEmpty: Bool {
    if isPrimary || isRequired { return false }
    return switch type {
    case .scalar, .enumeration: defaultValue == .null
    case .string: defaultValue == nil || defaultValue == .null
    default: true
    }
  }
}
