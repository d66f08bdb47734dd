// The answer of an introspection query, as the definitions that it describes.
//
// Everything that can be wrong with a schema is checked later, as for texts, so this only turns one
// form into the other. Unknown members are skipped, since newer servers send more. The types
// of introspection itself are left out; the prelude has them.

import Diagnostics

struct IntrospectionReader {
  private let sink: DiagnosticSink

  /// The definitions that the JSON in `file` describes; with errors in the sink if it is none.
  static func read(_ file: SourceFile, sink: DiagnosticSink) -> DocumentSyntax {
    var document = DocumentSyntax(file: file, definitions: [])
    guard let json = Parser.parseJSON(file, sink: sink) else { return document }
    guard let schema = json["__schema"] ?? json["data"]?["__schema"] else {
      var notes: [Diagnostic] = []
      if let first = json["errors"]?.elements?.first, let message = first["message"]?.string {
        notes.append(first.range.note("the server answered: \(message)"))
      }
      sink.error(
        "this JSON has no '__schema', neither at its top nor in 'data'",
        at: SourceRange(file: file, start: json.range.start, end: json.range.start + 1),
        notes: notes + [.hint("save the answer to an introspection query")])
      return document
    }
    let reader = IntrospectionReader(sink: sink)
    document.definitions = reader.definitions(schema)
    return document
  }

  private func definitions(_ schema: JSONSyntax) -> [DefinitionSyntax] {
    var result: [DefinitionSyntax] = []
    for type in list("types", of: schema) {
      if let type = self.type(type) { result.append(.type(type)) }
    }
    for directive in list("directives", of: schema, isOptional: true) {
      if let directive = self.directive(directive) { result.append(.directive(directive)) }
    }
    var roots: [SchemaDefinitionSyntax.RootType] = []
    for kind in OperationKind.allCases {
      guard let root = schema["\(kind.rawValue)Type"], let name = name(of: root) else { continue }
      roots.append(.init(operation: kind, operationRange: root.range, type: name))
    }
    result.append(
      .schema(
        SchemaDefinitionSyntax(
          description: description(of: schema), isExtension: false, directives: [],
          rootTypes: roots, keywordRange: start(of: schema))))
    return result
  }

  // MARK: Parts

  private func type(_ json: JSONSyntax) -> TypeDefinitionSyntax? {
    guard let name = name(of: json), !name.text.hasPrefix("__") else { return nil }
    guard let kind = json["kind"]?.string.flatMap(TypeKind.init(rawValue:)) else {
      fault("the type '\(name.text)' has no known 'kind'", json["kind"] ?? json)
      return nil
    }
    let hasFields = kind == .object || kind == .interface
    return TypeDefinitionSyntax(
      kind: kind, name: name, description: description(of: json),
      interfaces: hasFields
        ? list("interfaces", of: json, isOptional: true).compactMap(self.name) : [],
      directives: specifiedBy(json) + oneOf(json),
      fields: hasFields ? list("fields", of: json).compactMap(field) : [],
      members: kind == .union ? list("possibleTypes", of: json).compactMap(self.name) : [],
      values: kind == .enumeration ? list("enumValues", of: json).compactMap(value) : [],
      inputFields: kind == .inputObject ? list("inputFields", of: json).compactMap(input) : [])
  }

  private func field(_ json: JSONSyntax) -> FieldDefinitionSyntax? {
    guard let name = name(of: json), let type = reference(json) else { return nil }
    return FieldDefinitionSyntax(
      description: description(of: json), name: name,
      arguments: list("args", of: json, isOptional: true).compactMap(input), type: type,
      directives: deprecation(json))
  }

  private func input(_ json: JSONSyntax) -> InputValueDefinitionSyntax? {
    guard let name = name(of: json), let type = reference(json) else { return nil }
    return InputValueDefinitionSyntax(
      description: description(of: json), name: name, type: type,
      defaultValue: json["defaultValue"].flatMap(defaultValue), directives: deprecation(json))
  }

  private func value(_ json: JSONSyntax) -> EnumValueDefinitionSyntax? {
    guard let name = name(of: json) else { return nil }
    return EnumValueDefinitionSyntax(
      description: description(of: json), name: name, directives: deprecation(json))
  }

  private func directive(_ json: JSONSyntax) -> DirectiveDefinitionSyntax? {
    guard let name = name(of: json) else { return nil }
    return DirectiveDefinitionSyntax(
      description: description(of: json), name: name,
      arguments: list("args", of: json, isOptional: true).compactMap(input),
      isRepeatable: json["isRepeatable"]?.isTrue == true,
      // Locations of a newer language do not matter here.
      locations: list("locations", of: json).compactMap {
        $0.string.flatMap(DirectiveLocation.init(rawValue:))
      })
  }

  /// A default is a GraphQL literal in a JSON string. Its parts have the place of the string.
  private func defaultValue(_ json: JSONSyntax) -> ValueSyntax? {
    let literals = DiagnosticSink()
    let file = SourceFile(
      path: json.range.file.path, index: json.range.file.index,
      bytes: Array((json.string ?? "").utf8))
    var parser = Parser(file: file, sink: literals)
    guard let value = parser.wholeValue(), literals.errorCount == 0 else {
      fault("'defaultValue' is no value in GraphQL's syntax", json)
      return nil
    }
    return ValueSyntax(kind: value.kind, range: json.range)
  }

  /// The type under the key `type`.
  private func reference(_ json: JSONSyntax) -> TypeSyntax? {
    guard let type = json["type"] else {
      fault("'type' is missing", json)
      return nil
    }
    return wrapped(type)
  }

  /// The parser of JSON limits nesting.
  private func wrapped(_ json: JSONSyntax) -> TypeSyntax? {
    let kind = json["kind"]?.string
    guard kind == "LIST" || kind == "NON_NULL" else {
      return name(of: json).map {
        TypeSyntax(reference: .named($0.text), name: $0, range: $0.range)
      }
    }
    guard let inner = json["ofType"] else {
      fault("'ofType' is missing", json, hint: "ask for more levels of 'ofType'")
      return nil
    }
    guard let type = wrapped(inner) else { return nil }
    if kind == "LIST" {
      return TypeSyntax(reference: .list(type.reference), name: type.name, range: type.range)
    }
    if type.reference.isNonNull {
      fault("a NON_NULL type cannot contain another NON_NULL type", json)
      return nil
    }
    return TypeSyntax(reference: .nonNull(type.reference), name: type.name, range: type.range)
  }

  private func deprecation(_ json: JSONSyntax) -> [DirectiveSyntax] {
    guard json["isDeprecated"]?.isTrue == true else { return [] }
    return [
      directive("deprecated", json["deprecationReason"].map { ("reason", $0) }, json.range)
    ]
  }

  private func specifiedBy(_ json: JSONSyntax) -> [DirectiveSyntax] {
    guard let page = json["specifiedByURL"] ?? json["specifiedByUrl"] else { return [] }
    return [directive("specifiedBy", ("url", page), page.range)]
  }

  private func oneOf(_ json: JSONSyntax) -> [DirectiveSyntax] {
    json["isOneOf"]?.isTrue == true ? [directive("oneOf", nil, json.range)] : []
  }

  private func directive(
    _ name: String, _ argument: (name: String, value: JSONSyntax)?, _ range: SourceRange
  ) -> DirectiveSyntax {
    let arguments = argument.map { argument in
      [
        ArgumentSyntax(
          name: NameSyntax(text: argument.name, range: argument.value.range),
          value: ValueSyntax(
            kind: .string(argument.value.string ?? ""), range: argument.value.range))
      ]
    }
    return DirectiveSyntax(
      name: NameSyntax(text: name, range: range), arguments: arguments ?? [], range: range)
  }

  // MARK: Members

  private func name(of json: JSONSyntax) -> NameSyntax? {
    guard let name = json["name"], let text = name.string, isName(text) else {
      fault("'name' is missing or no name", json["name"] ?? json)
      return nil
    }
    return NameSyntax(text: text, range: name.range)
  }

  private func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, isIdentifierStart(first) else { return false }
    return text.utf8.allSatisfy { isIdentifierStart($0) || isDigit($0) }
  }

  private func description(of json: JSONSyntax) -> DescriptionSyntax? {
    guard let description = json["description"], let text = description.string else { return nil }
    return DescriptionSyntax(text: text, range: description.range)
  }

  private func list(
    _ key: String, of json: JSONSyntax, isOptional: Bool = false
  ) -> [JSONSyntax] {
    if let elements = json[key]?.elements { return elements }
    if json[key] != nil || !isOptional {
      fault("'\(key)' is missing or no list", json[key] ?? json)
    }
    return []
  }

  private func fault(_ message: String, _ json: JSONSyntax, hint: String? = nil) {
    sink.error(message, at: start(of: json), notes: hint.map { [.hint($0)] } ?? [])
  }

  /// The first byte of something long, all of something short.
  private func start(of json: JSONSyntax) -> SourceRange {
    var range = json.range
    if json.isObject || json.elements != nil { range.end = range.start + 1 }
    return range
  }
}
