// Turns syntax into the model: the order of the steps.
//
// First every type of every file is entered under its name. Then every declaration is resolved
// once, in the order of the language: included files come before the including file's own text. So
// a struct's parts are final when its layout is computed, and an enum's values are known when a
// default uses them. Checks that involve several types (Swift names, the root's key and indexes)
// come last, and only if there are no errors.
//
// A declaration with errors still gets a definition, so that its uses are not reported, too.

final class Resolver {
  /// A file with its syntax. `files` are in order of first inclusion.
  struct Input {
    var source: SourceFile
    var syntax: FileSyntax
  }

  /// One declaration with its context.
  struct Context {
    var file: Int
    var namespace: [String]
    var order: Int
  }

  let sink: DiagnosticSink
  /// Whether an include or a declaration is missing. Unknown names are then not reported.
  let lacksNames: Bool
  /// Whether there are syntax errors. Absent declarations are then not reported.
  let hasBrokenText: Bool
  let sources: [SourceFile]
  private let neighbours: Neighbours
  var symbols = SymbolTable()
  var schema = Schema()
  /// Enums and structs whose definitions are incomplete because of reported errors.
  var broken: Set<QualifiedName> = []
  /// The members of unions under the names that defaults use, `N_A` for the member `N.A`.
  var memberTags: [QualifiedName: [(name: String, tag: Int64)]] = [:]
  var declaredAttributes = Resolver.builtInAttributes
  /// The `index` attributes of tables, which name fields of types that may be declared below.
  var indexLists: [(table: QualifiedName, syntax: AttributeSyntax)] = []
  /// The fields with `references`, which may name types that are declared below.
  var references: [(table: QualifiedName, draft: FieldDraft, syntax: AttributeSyntax)] = []
  /// The `references` of tables.
  var compoundReferences: [(table: QualifiedName, syntax: CompoundReferenceSyntax)] = []
  /// The names of relations to each type that `inverse` gives.
  var inverses: [QualifiedName: [String: SourceRange]] = [:]
  /// The positions of type declarations.
  var ranges: [QualifiedName: SourceRange] = [:]
  /// Tables and structs by the unqualified names under which they were used before their
  /// declaration.
  private var awaited: [String: Symbol] = [:]
  private var serviceNames: [QualifiedName: SourceRange] = [:]
  private var roots: [Int: (name: QualifiedName, range: SourceRange)] = [:]
  /// The tables of each `root_type` that another one follows in the same file.
  private(set) var overriddenRoots: Set<QualifiedName> = []
  private var items: [(context: Context, declaration: DeclarationSyntax)] = []

  /// - Parameters:
  ///   - inputs: The files in order of first inclusion.
  ///   - textOrder: The indices of `inputs` in the order of the language, included files first.
  ///   - neighbours: Files that could have been included.
  init(
    inputs: [Input], textOrder: [Int], lacksIncludes: Bool, neighbours: Neighbours = Neighbours(),
    sink: DiagnosticSink
  ) {
    self.sink = sink
    self.neighbours = neighbours
    lacksNames = lacksIncludes || inputs.contains { $0.syntax.isIncomplete }
    hasBrokenText = sink.errorCount > 0
    sources = inputs.map(\.source)
    schema.files = inputs.map { SchemaFile(path: $0.source.path) }
    for file in textOrder {
      var namespace: [String] = []
      for declaration in inputs[file].syntax.declarations {
        if case .namespace(let parts) = declaration { namespace = parts }
        items.append(
          (Context(file: file, namespace: namespace, order: items.count), declaration))
      }
    }
  }

  /// Resolves everything; the result is only valid if no error was reported.
  func resolve() -> Schema {
    items = items.filter { declare($0.declaration, $0.context) }
    for (context, declaration) in items { define(declaration, context) }
    if sink.errorCount == 0 {
      nameMembers()
      checkSwiftNames()
      checkRequiredCircles()
      defineCompoundIndexes()
      defineReferences()
      defineCompoundReferences()
      checkRoot()
      hintAtMissingRoot()
    }
    return schema
  }

  // MARK: Entering names

  /// Enters the declaration's name; false if the name is taken.
  private func declare(_ declaration: DeclarationSyntax, _ context: Context) -> Bool {
    let (name, kind): (NameSyntax, Symbol.Kind)
    switch declaration {
    case .record(let record): (name, kind) = (record.name, record.isStruct ? .structure : .table)
    case .enumeration(let value): (name, kind) = (value.name, .enumeration)
    case .union(let union): (name, kind) = (union.name, .union)
    default: return true
    }
    let qualified = QualifiedName(namespace: context.namespace, name: name.text)
    let symbol = Symbol(name: qualified, kind: kind, order: context.order, range: name.range)
    if let other = symbols.declare(symbol) {
      sink.error(
        "'\(qualified)' is declared already", at: name.range,
        notes: [other.range.note("as \(other.described), here")])
      return false
    }
    ranges[qualified] = name.range
    schema.files[context.file].types.append(qualified)
    return true
  }

  // MARK: Resolving declarations

  private func define(_ declaration: DeclarationSyntax, _ context: Context) {
    switch declaration {
    case .namespace:
      break
    case .attribute(let name):
      declaredAttributes.insert(name)
    case .record(let record):
      if record.isStruct { defineStruct(record, context) } else { defineTable(record, context) }
    case .enumeration(let declaration):
      defineEnum(declaration, context)
    case .union(let declaration):
      defineUnion(declaration, context)
    case .service(let service):
      checkService(service, context)
    case .rootType(let path):
      defineRoot(path, context)
    case .fileIdentifier(let literal):
      if literal.text.utf8.count != 4 {
        sink.error(
          "a file identifier is 4 bytes long, not \(literal.text.utf8.count)", at: literal.range)
      }
      schema.files[context.file].fileIdentifier = literal.text
      schema.files[context.file].fileIdentifierPosition = literal.range.position
    case .fileExtension(let literal):
      schema.files[context.file].fileExtension = literal.text
      schema.files[context.file].fileExtensionPosition = literal.range.position
    }
  }

  /// The root must be a table declared above, given by its full name or relative to the current
  /// namespace alone.
  private func defineRoot(_ path: PathSyntax, _ context: Context) {
    let relative = QualifiedName(
      namespace: context.namespace + path.parts.dropLast(), name: path.parts.last ?? "")
    let absolute = QualifiedName(
      namespace: Array(path.parts.dropLast()), name: path.parts.last ?? "")
    let symbol = [absolute, relative].lazy.compactMap { self.symbols[$0] }
      .first { $0.order < context.order }
    guard let symbol else {
      unknownType(path, context, wanted: "the root type must be a table declared above")
      return
    }
    guard symbol.kind == .table else {
      sink.error(
        "the root type must be a table; '\(path.text)' is \(symbol.described)", at: path.range,
        notes: [symbol.range.note("declared here")])
      return
    }
    if let other = roots[context.file], other.name != symbol.name {
      overriddenRoots.insert(other.name)
      sink.warning(
        "'\(other.name)' is no entity: another 'root_type' follows, and the last one counts",
        at: other.range,
        notes: [path.range.note("the last one is here"), .hint(Self.oneEntityPerFile)])
    }
    let isOwn = schema.files[context.file].types.contains(symbol.name)
    schema.files[context.file].root = isOwn ? symbol.name : nil
    schema.files[context.file].rootPosition = path.range.position
    roots[context.file] = (symbol.name, path.range)
  }

  /// The range of the file's `root_type`.
  func rootRange(of file: Int) -> SourceRange? { roots[file]?.range }

  /// Services generate no code, but they must be valid.
  private func checkService(_ service: ServiceSyntax, _ context: Context) {
    let name = QualifiedName(namespace: context.namespace, name: service.name.text)
    if let other = serviceNames.updateValue(service.name.range, forKey: name) {
      sink.error(
        "there is a service '\(name)' already", at: service.name.range,
        notes: [other.note("declared here")])
    }
    _ = attributes(service.attributes, on: .service)
    var methods: [String: SourceRange] = [:]
    for method in service.methods {
      if let other = methods.updateValue(method.name.range, forKey: method.name.text) {
        sink.error(
          "there is a method '\(method.name.text)' already", at: method.name.range,
          notes: [other.note("declared here")])
      }
      _ = attributes(method.attributes, on: .service)
      for path in [method.request, method.response] {
        guard let symbol = type(named: path.parts, context)
        else {
          unknownType(path, context, wanted: "a method takes and gives a table")
          continue
        }
        if symbol.kind != .table {
          sink.error(
            "a method takes and gives a table; '\(path.text)' is \(symbol.described)",
            at: path.range)
        }
      }
    }
  }

  // MARK: Names

  /// The type that `path` means for a field.
  func type(named path: [String], _ context: Context) -> Symbol? {
    awaiting(symbols.type(path, in: context.namespace, at: context.order), path, context)
  }

  /// The type that `path` means where only a table or struct is allowed.
  func record(named path: [String], _ context: Context) -> Symbol? {
    awaiting(symbols.record(path, in: context.namespace, at: context.order), path, context)
  }

  private func awaiting(_ symbol: Symbol?, _ path: [String], _ context: Context) -> Symbol? {
    if let symbol, symbol.order > context.order, path.count == 1 { awaited[path[0]] = symbol }
    return symbol
  }

  /// The table or struct that `name` would mean where a field is declared: one above, or one below
  /// that was used above. A field cannot have its name.
  func recordInTheWay(of name: String, _ context: Context) -> Symbol? {
    let visible = symbols.record([name], in: context.namespace, at: context.order)
    if let visible, visible.order <= context.order { return visible }
    guard let mentioned = awaited[name], mentioned.order > context.order else { return nil }
    return mentioned
  }

  // MARK: Unknown names

  /// The stored types for common Swift types.
  private static let storedTypes = [
    "Date": "long", "Duration": "long", "UUID": "string", "URL": "string", "Decimal": "string",
    "Data": "[ubyte]",
  ]

  /// Reports the unknown target of a reference in the compiled file.
  func unknownType(_ path: PathSyntax, ofReferenceIn namespace: [String]) {
    unknownType(
      path, Context(file: 0, namespace: namespace, order: .max),
      wanted: "a reference names an entity of this schema, or of one that it includes")
  }

  /// Reports an unknown name, with the best guess at the intended one.
  func unknownType(_ path: PathSyntax, _ context: Context, wanted: String? = nil) {
    guard !lacksNames else { return }
    var notes: [Diagnostic] = []
    let others = symbols.named(path.parts.last ?? "")
    let visible = symbols.type(path.parts, in: context.namespace, at: Int.max)
    if let below = visible {
      notes.append(
        below.range.note(
          "'\(below.name)' is \(below.described) and declared here; it must stand above its use"))
    } else if let other = others.first {
      notes.append(other.range.note("'\(other.name)' exists; write its name in full"))
    } else if let hint = neighbours.hint(
      at: path.parts, in: context.namespace, from: sources[context.file].path)
    {
      notes.append(hint)
    } else if ScalarType(schemaName: path.text.lowercased()) != nil
      || path.text.lowercased() == "string"
    {
      notes.append(.hint("did you mean '\(path.text.lowercased())'?"))
    } else if let stored = Self.storedTypes[path.text] {
      notes.append(
        .hint(
          "declare the stored type and add the Swift type as an attribute: \(stored) (swift: \"\(path.text)\")"
        ))
    }
    if let wanted { notes.append(.hint(wanted)) }
    sink.error("unknown type '\(path.text)'", at: path.range, notes: notes)
  }
}
