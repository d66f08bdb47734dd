// Generator: produces the text of a schema's Swift files.
//
// A schema file `base.fbs` yields four files, whatever it contains, because build rules list them:
//
//  - `base_generated.swift`: enums, structs, unions and the tables that are plain values;
//  - `base_data_model_generated.swift`: the entity and its builder;
//  - `base_mutating_generated.swift`: the entity's change request;
//  - `base_query_generated.swift`: the names for queries.
//
// The output depends only on the schema, the base name and the options, not on directories or the
// time.

public import DflatSchema

/// A generated file.
public struct GeneratedFile: Sendable, Hashable {
  /// The file's name, without directory.
  public let name: String
  /// Its complete text.
  public let text: String
}

/// Options beyond the four files.
public struct GeneratorOptions: Sendable, Hashable {
  /// Also write `base_generated.json`, a description of the schema.
  public var keepsJSON = false
  /// The access level of all declarations.
  public var access = AccessLevel.public
  /// Also declare the namespaces, which otherwise the user declares.
  public var declaresNamespaces = false
  /// Namespaces that already exist.
  public var declaredNamespaces: Set<[String]> = []
  /// The Swift names that lead to other types and namespaces of the Swift module. Where generated
  /// code means a library's type with one of these names, it qualifies the name.
  public var otherTypes: Set<[String]> = []
  /// The Swift names that lead to the entities whose references to an entity have a rule for its
  /// deletion.
  public var referrers: [QualifiedName: [[String]]] = [:]
  /// Types that other modules contain.
  public var imported = ImportedNames()

  /// Only the four files.
  public init() {}
}

/// Generates Swift for the first file of a schema; included files are only referred to.
public struct Generator {
  let schema: Schema
  let file: SchemaFile
  /// The file's name without directory and extension.
  let base: String
  let options: GeneratorOptions
  let names: TypeNames
  let circles: Circles

  /// What each declaration begins with.
  var access: String { options.access.modifier }

  /// - Parameters:
  ///   - schema: A schema without errors.
  ///   - options: What to generate in addition.
  public init(_ schema: Schema, options: GeneratorOptions = GeneratorOptions()) {
    self.schema = schema
    self.options = options
    file = schema.files.first ?? SchemaFile(path: "")
    base = Self.baseName(of: file.path)
    names = TypeNames(
      schema: schema, fileName: base, imported: options.imported, others: options.otherTypes)
    circles = Circles(schema: schema, entities: names.entities)
  }

  /// The names of the four files for a schema file, in the order of `generate()`.
  public static func fileNames(for path: String) -> [String] {
    let base = baseName(of: path)
    return ["", "_data_model", "_mutating", "_query"].map { "\(base)\($0)_generated.swift" }
  }

  private static func fileName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The file's name as a comment of one line can have it.
  private var commentedFileName: String {
    let name = Self.fileName(of: file.path)
    return name.contains(where: \.isNewline) ? Literal.string(name) : name
  }

  private static func baseName(of path: String) -> String {
    let name = fileName(of: path)
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    return String(name[..<dot])
  }

  /// The four files, and the JSON description if requested.
  public func generate() -> [GeneratedFile] {
    let model = entityFile(.content) { writeModel(of: $0, to: &$1) }
    let mutating = entityFile(.interface) { writeRequest(of: $0, to: &$1) }
    let query = queryFile()
    // Last, because the other files may have requested aliases.
    let values = valuesFile()
    var files = zip(Self.fileNames(for: file.path), [values, model, mutating, query]).map {
      GeneratedFile(name: $0, text: $1)
    }
    if options.keepsJSON {
      files.append(GeneratedFile(name: "\(base)_generated.json", text: description()))
    }
    return files
  }

  /// The table of the file's `root_type`.
  var entity: TableDefinition? {
    guard let root = file.root, case .table(let table) = schema.types[root] else { return nil }
    return table
  }

  // MARK: Files

  /// How a file imports the FlatBuffers runtime: a public import is only allowed if a public
  /// declaration uses it.
  private enum RuntimeImport {
    case none
    /// For what declarations contain.
    case content
    /// For the declarations themselves.
    case interface
  }

  /// - Parameters:
  ///   - modules: The other modules that the file's text refers to.
  ///   - fields: Those whose types the file's text names.
  private func header(
    _ runtime: RuntimeImport, imports: Bool = true, modules: [String] = [],
    _ fields: [SwiftField] = [],
    to text: inout SourceText
  ) {
    text.line("// Generated by dflatc from \(commentedFileName). Do not edit.")
    guard imports else { return }
    text.gap()
    let library = "FlatBuffersRuntime"
    text.imports(runtime == .interface ? ["Dflat", library] : ["Dflat"], options.access)
    if runtime == .content {
      text.line("\(options.access == .public ? "internal " : "")import \(library)")
    }
    // The type of a field is part of the interface.
    let all = Set(modules.map { Identifier.escaped($0) } + fields.compactMap(\.module))
    text.imports(all.sorted(), options.access)
  }

  /// The fields of plain values that appear in Swift.
  private func fields(of types: [QualifiedName]) -> [SwiftField] {
    types.flatMap { name -> [SwiftField] in
      switch names.definition(name) {
      case .table(let table): fields(of: table)
      case .structure(let structure): fields(of: structure)
      case .enumeration, .union, nil: []
      }
    }
  }

  private func valuesFile() -> String {
    let types = file.types.filter { !names.isEntity($0) }
    var body = SourceText()
    writeByNamespace(types, to: &body) { name, text in
      switch names.definition(name) {
      case .enumeration(let definition): write(definition, to: &text)
      case .structure(let definition): write(definition, to: &text)
      case .table(let definition): write(definition, to: &text)
      case .union(let definition): write(definition, to: &text)
      case nil: break
      }
    }
    let modules = names.takeModules()
    let mentionsRuntime = types.contains { name in
      if case .enumeration = names.definition(name) { false } else { true }
    }
    var text = SourceText()
    header(
      // Swift counts the conformances of enums as a public mention, but not as one of the package.
      options.access == .package && !mentionsRuntime ? .content : .interface,
      imports: !types.isEmpty, modules: modules, fields(of: types), to: &text)
    for path in names.aliases.sorted(by: { $0.joined(separator: ".") < $1.joined(separator: ".") })
    {
      text.gap()
      text.documentation(["`\(names.qualified(path))`, where a nearer name hides it."])
      text.line("\(access)typealias \(names.alias(of: path)) = \(names.qualified(path))")
    }
    for name in namespaceTypes {
      let swift = namespacePath(name.namespace + [name.name])[name.namespace.count]
      let alias = "\(access)typealias \(Identifier.escapedType(swift)) = \(names.qualified(name))"
      text.gap()
      text.documentation(["\(names.qualified(name)) under its name in the schema, as a namespace."])
      if name.namespace.isEmpty {
        text.line(alias)
      } else {
        text.block("nonisolated extension \(names.namespace(name.namespace))") { $0.line(alias) }
      }
    }
    if options.declaresNamespaces {
      for namespace in newNamespaces { NamespaceSource.write(namespace, options.access, to: &text) }
    }
    if types.isEmpty {
      text.gap()
      text.line("// The schema declares no enums, structs, unions, or tables beside its root.")
    }
    return text.text + (body.text.isEmpty ? "" : "\n" + body.text)
  }

  private func entityFile(
    _ runtime: RuntimeImport, _ write: (TableDefinition, inout SourceText) -> Void
  ) -> String {
    var body = SourceText()
    if let entity { writeByNamespace([entity.name], to: &body) { write(entity, &$1) } }
    var text = SourceText()
    header(
      runtime, imports: entity != nil, modules: names.takeModules(),
      entity.map { fields(of: $0) } ?? [], to: &text)
    if entity == nil { noEntity(&text) }
    return text.text + (body.text.isEmpty ? "" : "\n" + body.text)
  }

  private func queryFile() -> String {
    var body = SourceText()
    writeQueries(to: &body)
    let modules = names.takeModules()
    var text = SourceText()
    let named = fields(of: file.types).filter(\.isNamedByQueries)
    header(.none, imports: !body.text.isEmpty, modules: modules, named, to: &text)
    if body.text.isEmpty { noEntity(&text) }
    return text.text + (body.text.isEmpty ? "" : "\n" + body.text)
  }

  private func noEntity(_ text: inout SourceText) {
    text.gap()
    text.line("// The schema has no root type: nothing of it is stored by itself.")
  }

  /// Puts declarations into extensions of their namespaces, one for each run of adjacent
  /// declarations.
  private func writeByNamespace(
    _ types: [QualifiedName], to text: inout SourceText,
    _ write: (QualifiedName, inout SourceText) -> Void
  ) {
    var rest = types[...]
    while let namespace = rest.first?.namespace {
      let run = rest.prefix { $0.namespace == namespace }
      rest = rest.dropFirst(run.count)
      func members(_ text: inout SourceText) {
        for name in run {
          text.gap()
          write(name, &text)
        }
      }
      text.gap()
      if namespace.isEmpty {
        members(&text)
      } else {
        text.block("nonisolated extension \(names.namespace(namespace))", members)
      }
    }
  }

  /// The types of this file that serve as namespaces in it and have other names in Swift.
  private var namespaceTypes: [QualifiedName] {
    let namespaces = Set(file.namespaces.map(namespacePath))
    let paths = Set(schema.types.keys.map(names.path))
    return file.types.filter { name in
      let path = namespacePath(name.namespace + [name.name])
      return namespaces.contains(path) && !paths.contains(path)
    }
  }

  /// Every namespace that this file is the first to use, outermost first.
  private var newNamespaces: [[String]] {
    var known = options.declaredNamespaces.union(options.imported.namespaces.keys)
    // A type may serve as a namespace.
    let types = Set(
      schema.types.keys.map(names.path)
        + namespaceTypes.map { namespacePath($0.namespace + [$0.name]) })
    return file.namespaces.filter {
      !types.contains(namespacePath($0)) && known.insert($0).inserted
    }
  }

  // MARK: Parts shared by several files

  /// Mentions each of the program's types that fields use, at the line of the schema. Only the
  /// Swift compiler knows whether such a type exists and conforms, and it then reports errors
  /// there.
  func checkOwnTypes(_ fields: [SwiftField], to text: inout SourceText) {
    var seen: Set<SwiftType> = []
    for field in fields {
      guard let type = field.definition.swiftType, case .program = type, seen.insert(type).inserted,
        let form = field.form
      else { continue }
      let position = field.definition.position
      let name = Literal.string(Self.fileName(of: file.path))
      text.gap()
      text.line("// An error in the next line is about the schema's.")
      // Without spaces, so that the formatter leaves it alone.
      text.line("#sourceLocation(file:\(name),line:\(position.line))")
      text.line("private typealias _Line\(position.line) = \(form)")
      text.line("#sourceLocation()")
    }
  }

  func orElse(_ short: String, _ documentation: [String]) -> [String] {
    documentation.isEmpty ? [short] : documentation
  }

  /// The scope inside the declaration of a table.
  func scope(of table: TableDefinition) -> TypeNames.Scope {
    TypeNames.Scope(
      namespace: namespacePath(table.name.namespace), type: names.path(table.name),
      generated: names.isEntity(table.name) ? .entity : .table,
      members: Set(table.fields.filter { !$0.isDeprecated }.map(\.swiftName)))
  }

  /// The fields of a table that appear in Swift, in declaration order.
  func fields(of table: TableDefinition) -> [SwiftField] {
    let scope = scope(of: table)
    return table.fields.filter { !$0.isDeprecated }.map { field in
      var result = SwiftField(definition: field, names: names, scope: scope, isInStruct: false)
      if case .table(let target) = field.type {
        result.isBoxed = circles.connects(table.name, target)
      }
      return result
    }
  }

  func fields(of structure: StructDefinition) -> [SwiftField] {
    let scope = TypeNames.Scope(
      namespace: namespacePath(structure.name.namespace), type: names.path(structure.name),
      generated: .structure, members: Set(structure.fields.map(\.swiftName)))
    return structure.fields.filter { !$0.isDeprecated }.map {
      SwiftField(definition: $0, names: names, scope: scope, isInStruct: true)
    }
  }

  /// Stored properties.
  /// - Parameter haveDefaults: Whether they are initialised with the fields' defaults.
  func properties(
    _ fields: [SwiftField], haveDefaults: Bool = false, to text: inout SourceText
  ) {
    for field in fields {
      text.documentation(field.documentation)
      guard field.isBoxed else {
        let value = haveDefaults ? " = \(field.defaultExpression)" : ""
        text.statement("\(access)var \(field.member): \(field.type)\(value)")
        continue
      }
      text.property("\(access)var \(field.member)", field.type) { text in
        text.line("get { \(field.box).value }")
        text.line("_modify { yield &\(field.box).value }")
      }
      let box = "\(names.dflat("Indirect"))<\(field.type)>"
      let value = haveDefaults ? " = \(box)(\(field.defaultExpression))" : ""
      text.statement("private var \(field.box): \(box)\(value)")
    }
  }

  /// The memberwise initialiser's fields: keys first, then the others in declaration order.
  func parameters(_ fields: [SwiftField]) -> [SwiftField] {
    fields.filter(\.definition.isPrimary) + fields.filter { !$0.definition.isPrimary }
  }

  /// The memberwise initialiser of a plain value.
  func memberwise(_ fields: [SwiftField], to text: inout SourceText) {
    text.gap()
    text.documentation(["All fields; nil stands for the default."])
    if fields.isEmpty { return text.line("\(access)init() {}") }
    defer { hashValueWitness(fields, to: &text) }
    text.function("\(access)init", parameters(fields).map(\.parameter)) { text in
      for field in fields {
        text.statement(field.initialised("self.\(field.member)", by: field.argument))
      }
    }
  }
}

extension SwiftField {
  /// Whether queries name the type of its values, or of its elements.
  fileprivate var isNamedByQueries: Bool {
    switch definition.type {
    case .scalar, .string, .enumeration, .structure, .table, .union: true
    // The elements of `Data` are bytes.
    case .vector(let element): element.isNamed && form != nil
    case .array: false
    }
  }
}

extension FieldType {
  fileprivate var isNamed: Bool {
    switch self {
    case .scalar, .string, .enumeration: true
    case .structure, .table, .union, .vector, .array: false
    }
  }
}
