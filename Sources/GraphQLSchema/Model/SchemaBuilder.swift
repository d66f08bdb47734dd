// Makes a schema of syntax trees: extensions join their types, built-in definitions are added.
//
// Texts and introspection come here in the same form. The checks of a schema (Checking) work on
// the declarations where places of names matter, otherwise on the types that are made of them.

import Diagnostics

/// A type's definition with its extensions.
struct TypeDeclaration {
  var definition: TypeDefinitionSyntax
  var extensions: [TypeDefinitionSyntax] = []
  var isBuiltIn = false

  /// The definition and the extensions of the same kind.
  var parts: [TypeDefinitionSyntax] {
    [definition] + extensions.filter { $0.kind == definition.kind }
  }
}

struct SchemaBuilder {
  let sink: DiagnosticSink
  /// In the order of the texts; built-in ones last.
  private(set) var types: [TypeDeclaration] = []
  private(set) var directives: [(definition: DirectiveDefinitionSyntax, isBuiltIn: Bool)] = []
  private(set) var schemas: [SchemaDefinitionSyntax] = []
  /// Positions in `types` and `directives`.
  private(set) var typeNumbers: [String: Int] = [:]
  private(set) var directiveNumbers: [String: Int] = [:]
  private var metaFields: [OutputField] = []

  static func build(_ documents: [DocumentSyntax], sink: DiagnosticSink) -> Schema {
    var builder = SchemaBuilder(sink: sink)
    builder.collect(documents)
    builder.addBuiltIns()
    builder.checkReferences()
    builder.checkRoots()
    let schema = builder.schema()
    builder.checkDirectives(schema)
    DirectiveCycles.check(builder, sink: sink)
    DefaultCycles.check(schema, sink: sink)
    SchemaChecker.check(schema, sink: sink)
    return schema
  }

  // MARK: Collecting

  private mutating func collect(_ documents: [DocumentSyntax]) {
    var extensions: [TypeDefinitionSyntax] = []
    for document in documents {
      for definition in document.definitions {
        switch definition {
        case .type(let type) where type.isExtension: extensions.append(type)
        case .type(let type): add(type)
        case .directive(let directive): add(directive)
        case .schema(let schema): schemas.append(schema)
        case .operation, .fragment:
          sink.error(
            "an operation or fragment cannot stand in a schema", at: definition.nameRange,
            rule: "ExecutableDefinitions",
            notes: [.hint("move it into a file of operations")])
        }
      }
    }
    for type in extensions {
      guard let number = typeNumbers[type.name.text] else {
        reportUnknownExtension(type)
        continue
      }
      types[number].extensions.append(type)
      let kind = types[number].definition.kind
      guard kind != type.kind else { continue }
      sink.error(
        "'\(type.name.text)' is \(kind.described), not \(type.kind.described)",
        at: type.name.range, rule: "PossibleTypeExtensions",
        notes: [types[number].definition.name.range.note("it is defined here")])
    }
  }

  private mutating func add(_ type: TypeDefinitionSyntax) {
    let name = type.name.text
    if let earlier = typeNumbers[name] {
      sink.error(
        "there is a second type called '\(name)'", at: type.name.range, rule: "UniqueTypeNames",
        notes: [types[earlier].definition.name.range.note("the first one is here")])
      return
    }
    typeNumbers[name] = types.count
    types.append(TypeDeclaration(definition: type))
  }

  private mutating func add(_ directive: DirectiveDefinitionSyntax) {
    let name = directive.name.text
    if let earlier = directiveNumbers[name] {
      sink.error(
        "there is a second directive called '@\(name)'", at: directive.name.range,
        rule: "UniqueDirectiveNames",
        notes: [directives[earlier].definition.name.range.note("the first one is here")])
      directives[earlier].definition = directive
      return
    }
    directiveNumbers[name] = directives.count
    directives.append((directive, false))
  }

  private func reportUnknownExtension(_ type: TypeDefinitionSyntax) {
    let hint = nearest(to: type.name.text, among: typeNumbers.keys)
    sink.error(
      "there is no type '\(type.name.text)' to extend", at: type.name.range,
      rule: "PossibleTypeExtensions", notes: hint.map { [.hint("did you mean '\($0)'?")] } ?? [])
  }

  /// Built-in definitions, unless the texts have them. The types of introspection are always those
  /// of the specification: what is selected of them does not depend on a server's version.
  private mutating func addBuiltIns() {
    for definition in Prelude.definitions {
      switch definition {
      case .type(let type) where type.name.text == Prelude.metaFields:
        metaFields = type.fields.map(Self.field)
      case .type(let type):
        if let number = typeNumbers[type.name.text] {
          checkBuiltIn(types[number].definition, type)
          types[number] = TypeDeclaration(definition: type, isBuiltIn: true)
          continue
        }
        typeNumbers[type.name.text] = types.count
        types.append(TypeDeclaration(definition: type, isBuiltIn: true))
      case .directive(let directive) where directiveNumbers[directive.name.text] == nil:
        directiveNumbers[directive.name.text] = directives.count
        directives.append((directive, true))
      case .directive, .schema, .operation, .fragment: break
      }
    }
  }

  /// A text may repeat what is built in, which some tools write out, but not change it.
  private func checkBuiltIn(_ type: TypeDefinitionSyntax, _ builtIn: TypeDefinitionSyntax) {
    guard type.kind != builtIn.kind else { return }
    sink.error(
      "'\(type.name.text)' is built in, and it is \(builtIn.kind.described)", at: type.name.range,
      rule: "TypeValidation")
  }

  // MARK: Looking up

  func declaration(named name: String) -> TypeDeclaration? { typeNumbers[name].map { types[$0] } }

  /// The root types: those that a definition names, otherwise those that have the usual names.
  var rootTypes: [SchemaDefinitionSyntax.RootType] { schemas.flatMap(\.rootTypes) }

  var rootNames: [OperationKind: String] {
    var result: [OperationKind: String] = [:]
    for root in rootTypes where result[root.operation] == nil {
      result[root.operation] = root.type.text
    }
    guard !schemas.contains(where: { !$0.isExtension }) else { return result }
    for kind in OperationKind.allCases where result[kind] == nil {
      let name = kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst()
      if typeNumbers[name] != nil { result[kind] = name }
    }
    return result
  }

  // MARK: Making types

  private func schema() -> Schema {
    Schema(
      description: schemas.first { !$0.isExtension }?.description?.text,
      types: types.map(type),
      directives: directives.map { directive in
        DirectiveDefinition(
          name: directive.definition.name.text,
          description: directive.definition.description?.text,
          arguments: directive.definition.arguments.map(Self.inputValue),
          isRepeatable: directive.definition.isRepeatable,
          locations: directive.definition.locations, isBuiltIn: directive.isBuiltIn,
          range: directive.definition.name.range)
      },
      rootNames: rootNames, introspection: metaFields)
  }

  private func type(_ declaration: TypeDeclaration) -> NamedType {
    let definition = declaration.definition
    let parts = declaration.parts
    let page = parts.flatMap(\.directives).first { $0.name.text == "specifiedBy" }?
      .argument("url")?.value
    return NamedType(
      name: definition.name.text, kind: definition.kind, description: definition.description?.text,
      fields: parts.flatMap { withoutRepetitions($0.fields.map(Self.field)) },
      interfaces: parts.flatMap { $0.interfaces.map(\.text) },
      members: parts.flatMap { $0.members.map(\.text) },
      values: parts.flatMap { part in
        part.values.map {
          EnumValue(
            name: $0.name.text, description: $0.description?.text,
            deprecationReason: Self.deprecationReason($0.directives), range: $0.name.range)
        }
      },
      inputFields: parts.flatMap { $0.inputFields.map(Self.inputValue) },
      isOneOf: definition.kind == .inputObject
        && parts.flatMap(\.directives).contains { $0.name.text == "oneOf" },
      specifiedByURL: page.flatMap(Self.string), isBuiltIn: declaration.isBuiltIn,
      range: definition.name.range)
  }

  /// Without fields that are there a second time, word for word, which some services publish. The
  /// checks report others of one name.
  private func withoutRepetitions(_ fields: [OutputField]) -> [OutputField] {
    guard Set(fields.map(\.name)).count < fields.count else { return fields }
    var unique: [OutputField] = []
    for field in fields {
      guard let first = unique.first(where: { $0.name == field.name }), first.isSame(as: field)
      else {
        unique.append(field)
        continue
      }
      sink.warning(
        "the field '\(field.name)' is declared twice, in the same way", at: field.range,
        rule: "UniqueFieldDefinitionNames", notes: [first.range.note("the first one is here")])
    }
    return unique
  }

  private static func field(_ syntax: FieldDefinitionSyntax) -> OutputField {
    OutputField(
      name: syntax.name.text, description: syntax.description?.text,
      arguments: syntax.arguments.map(inputValue), type: syntax.type.reference,
      deprecationReason: deprecationReason(syntax.directives), range: syntax.name.range)
  }

  private static func inputValue(_ syntax: InputValueDefinitionSyntax) -> InputValue {
    InputValue(
      name: syntax.name.text, description: syntax.description?.text, type: syntax.type.reference,
      defaultValue: syntax.defaultValue, deprecationReason: deprecationReason(syntax.directives),
      range: syntax.name.range)
  }

  private static func deprecationReason(_ directives: [DirectiveSyntax]) -> String? {
    guard let directive = directives.first(where: { $0.name.text == "deprecated" }) else {
      return nil
    }
    return directive.argument("reason").flatMap { string($0.value) } ?? "No longer supported"
  }

  private static func string(_ value: ValueSyntax) -> String? {
    if case .string(let text) = value.kind { text } else { nil }
  }
}

extension TypeKind {
  /// With its article, as messages have it.
  var described: String {
    switch self {
    case .scalar: "a scalar"
    case .object: "an object type"
    case .interface: "an interface"
    case .union: "a union"
    case .enumeration: "an enum"
    case .inputObject: "an input object"
    }
  }
}

extension OutputField {
  /// Whether it has the same type and arguments as another one.
  fileprivate func isSame(as other: OutputField) -> Bool {
    type == other.type && arguments.count == other.arguments.count
      && zip(arguments, other.arguments).allSatisfy { own, other in
        own.name == other.name && own.type == other.type
          && own.defaultValue?.canonicalText == other.defaultValue?.canonicalText
      }
  }
}
