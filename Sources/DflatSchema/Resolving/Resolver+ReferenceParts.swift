// The parts that references of fields and of tables have in common: the entity, the type of the
// key, the rule and the inverse.

extension Resolver {
  // MARK: Target

  /// Whether a table is the root of the file that declares it.
  func isEntity(_ name: QualifiedName) -> Bool {
    schema.files.contains { $0.root == name }
  }

  /// The entity with a name, which is relative to the namespace or one around it, or absolute.
  func target(
    _ text: String, at range: SourceRange, from namespace: [String]
  ) -> TableDefinition? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for depth in (0...namespace.count).reversed() {
      let name = QualifiedName(
        namespace: Array(namespace[..<depth]) + parts.dropLast(), name: parts.last ?? "")
      guard let definition = schema.types[name] else { continue }
      guard case .table(let table) = definition, isEntity(name) else {
        sink.error(
          "'\(name)' cannot be referred to: it is no entity", at: range,
          notes: [
            ranges[name]?.note("it is declared here, and no 'root_type' names it"),
            .hint("an entity is the table that 'root_type' names in the file that declares it"),
          ].compactMap { $0 })
        return nil
      }
      return table
    }
    unknownType(PathSyntax(parts: parts, range: range), ofReferenceIn: namespace)
    return nil
  }

  // MARK: Type

  /// Whether a field has the type of a field of the target's key; reports it if not.
  /// - Parameters:
  ///   - type: The type of the field, or of its elements.
  ///   - range: Where it is reported.
  func hasType(
    of key: FieldDefinition, in target: TableDefinition, _ field: FieldDefinition,
    type: FieldType, _ range: SourceRange
  ) -> Bool {
    let note = self.range(at: key.position, key.name)?.note("the key is declared here")
    if key.type != type {
      sink.error(
        "'\(field.name)' is \(field.type), and the primary key of '\(target.name)', '\(key.name)', is \(key.type)",
        at: range, notes: [note, .hint("a reference has the type of the key")].compactMap { $0 })
      return false
    }
    if key.swiftType != field.swiftType {
      let swift = key.attributes.first { $0.name == "swift" }?.value
      sink.error(
        "'\(field.name)' has another Swift type than the primary key of '\(target.name)', '\(key.name)'",
        at: range,
        notes: [
          note,
          .hint(swift.map { "add (swift: \"\($0)\")" } ?? "leave 'swift' out, as the key does"),
        ].compactMap { $0 })
      return false
    }
    return true
  }

  // MARK: Rule

  /// The rule with a name; nil is reported.
  func rule(named text: String?, at range: SourceRange) -> DeletionRule? {
    if let rule = DeletionRule(rawValue: text ?? "") { return rule }
    let names = DeletionRule.allCases.map(\.rawValue)
    let guess = text.flatMap { nearest(to: $0, among: Set(names)) }
    sink.error(
      text.map { "unknown rule '\($0)'" } ?? "the rule is missing", at: range,
      notes: [
        .hint(
          (guess.map { "did you mean '\($0)'? " } ?? "")
            + "the rules are \(names.map { "\"\($0)\"" }.joined(separator: ", "))")
      ])
    return nil
  }

  /// Reports that "nullify" cannot be kept, unless the field may be empty.
  func checkCanBeEmpty(_ field: FieldDefinition, at range: SourceRange) {
    if field.canBeEmpty { return }
    let isScalar = field.type.isScalar && !field.isPrimary
    sink.error(
      "the rule \"nullify\" cannot be kept: '\(field.name)' always has a value", at: range,
      notes: [
        .hint(
          isScalar
            ? "let it be empty: \(field.name): … = null"
            : "it can be empty without 'primary', 'required' and a default; otherwise the rule is \"cascade\" or \"deny\""
        )
      ])
  }

  // MARK: Inverse

  /// Names that every entity has.
  static let takenNames: Set<String> = [
    "id", "description", "hashValue", "hash", "encode", "from", "toData", "init", "self", "Type",
    "Protocol", "ID", "Element",
  ]

  func isIdentifier(_ text: String) -> Bool {
    guard let first = text.utf8.first, isIdentifierStart(first) else { return false }
    return text.utf8.allSatisfy { isIdentifierStart($0) || isDigit($0) }
  }

  /// The name of the inverse, which is entered into the target's names; nil is reported.
  func inverse(
    named text: String, at range: SourceRange, in target: TableDefinition
  ) -> String? {
    guard isIdentifier(text) else {
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
    if let reference = compoundReference(named: text, of: target.name) {
      sink.error(
        "'\(target.name)' has a reference '\(text)' already", at: range,
        notes: [reference.note("it is here")])
      return nil
    }
    if Self.takenNames.contains(text) {
      sink.error("'\(text)' is the name of something that every entity has", at: range)
      return nil
    }
    if let other = inverses[target.name, default: [:]].updateValue(range, forKey: text) {
      sink.error(
        "'\(target.name)' has an inverse '\(text)' already", at: range,
        notes: [other.note("it is here")])
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
