// TypeNames: how generated code spells types.
//
// Swift looks a name up from the inside out: members of the type, members of the namespace, then
// the module, then the libraries. A schema may use any name at any of these levels, so each
// spelling is checked against what it would find:
//
//  - A type of the schema is spelled with its namespace, without it where a member hides the
//    namespace, and through an alias at file scope where every spelling would find something else.
//  - A type of a schema in another module is qualified with the module.
//  - A library's type is spelled as in ordinary code. It is qualified with its module if the
//    schema, or the known part of the Swift module that the code is for, uses its name for
//    anything. For those names in Dflat that programs are likely to use for their own types, Dflat
//    has alternatives (GeneratedNames.swift).

import DflatSchema

final class TypeNames {
  private let schema: Schema
  /// Tables that are the root of the file that declares them.
  let entities: Set<QualifiedName>
  /// All names that could hide a library's name.
  private let hidingNames: Set<String>
  /// The types and namespaces of the schema, with the builders and change requests of entities.
  private let members: DeclaredNames
  /// The names of all types and namespaces of the schema.
  private let typeNames: Set<String>
  private var companions: [QualifiedName: Companions] = [:]
  private let ambiguousAliases: Set<String>
  /// Unique to the file, so that aliases of two files never conflict.
  private let aliasPrefix: String
  /// The Swift paths of the types that some spelling needs an alias for.
  private(set) var aliases: Set<[String]> = []

  private let imported: ImportedNames
  /// The other modules that spellings have used since the last call of `takeModules`.
  private var modules: Set<String> = []

  /// - Parameter others: The Swift paths of the types and namespaces that the Swift module declares
  ///   beside the schema.
  init(
    schema: Schema, fileName: String, imported: ImportedNames = ImportedNames(),
    others: Set<[String]> = []
  ) {
    self.schema = schema
    self.imported = imported
    entities = Set(schema.files.compactMap(\.root))
    aliasPrefix =
      "_"
      + String(fileName.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }) + "_"
    var declared = DeclaredNames()
    var names: Set<String> = []
    for (name, definition) in schema.types {
      declared.insert(namespacePath(name.namespace) + [definition.swiftName])
      switch definition {
      case .table(let table): names.formUnion(table.fields.map(\.swiftName))
      case .structure(let structure): names.formUnion(structure.fields.map(\.swiftName))
      case .enumeration(let enumeration): names.formUnion(enumeration.values.map(\.swiftName))
      case .union(let union): names.formUnion(union.members.map(\.swiftName))
      }
    }
    typeNames = declared.all
    var taken = declared
    for path in others { taken.insert(path) }
    for entity in entities {
      let namespace = namespacePath(entity.namespace)
      let bare = schema.swiftName(of: entity)
      func companion(_ suffix: String) -> [String] {
        namespace + [Identifier.fresh(after: bare + suffix, avoiding: taken[namespace])]
      }
      let pair = Companions(builder: companion("Builder"), request: companion("ChangeRequest"))
      companions[entity] = pair
      declared.insert(pair.builder)
      declared.insert(pair.request)
    }
    members = declared
    hidingNames = names.union(declared.all).union(others.flatMap { $0 })
    let aliases = schema.types.keys.map {
      (namespacePath($0.namespace) + [schema.swiftName(of: $0)]).joined(separator: "_")
    }
    ambiguousAliases = Set(Dictionary(grouping: aliases) { $0 }.filter { $1.count > 1 }.keys)
  }

  /// The scope in which a spelling appears.
  struct Scope {
    /// The enclosing namespace, by Swift names; empty for an extension at file scope.
    var namespace: [String] = []
    /// The enclosing type, with its namespace.
    var type: [String]?
    /// What the enclosing type declares beside the names of the schema.
    var generated = GeneratedMembers()
    /// The members that the schema names, which hide types in expressions.
    var members: Set<String> = []
  }

  /// The bare name of a type, without back-ticks.
  func swiftName(_ name: QualifiedName) -> String { schema.swiftName(of: name) }

  /// The bare name of a type, as in its declaration.
  func declared(_ name: QualifiedName) -> String {
    Identifier.escapedType(swiftName(name))
  }

  /// The names of a type as the first arguments of its layout: the schema's name, and the Swift
  /// name if it differs.
  func layoutName(_ name: QualifiedName) -> String {
    let swift = swiftName(name)
    return Literal.string(name.name)
      + (swift == name.name ? "" : ", swift: \(Literal.string(swift))")
  }

  /// The bare name of a generated type, as in its declaration.
  func declared(_ path: [String]) -> String {
    Identifier.escapedType(path[path.count - 1])
  }

  /// The type's name with its namespace, valid at file scope.
  func qualified(_ name: QualifiedName) -> String {
    if imported.types[name] == nil { importNamespace(name.namespace) }
    return qualified(path(name))
  }

  /// A type's Swift names as one name, valid at file scope.
  func qualified(_ path: [String]) -> String {
    path.map(Identifier.escapedType).joined(separator: ".")
  }

  /// Returns and clears the other modules that the spellings needed: each file imports its own.
  func takeModules() -> [String] {
    defer { modules = [] }
    return modules.sorted()
  }

  /// The Swift names that lead to a type, from file scope.
  func path(_ name: QualifiedName) -> [String] {
    namespacePath(name.namespace) + [swiftName(name)]
  }

  /// The namespace as the extended type of an extension at file scope.
  func namespace(_ namespace: [String]) -> String {
    importNamespace(namespace)
    return qualified(namespacePath(namespace))
  }

  private func importNamespace(_ namespace: [String]) {
    if let module = imported.namespaces[namespace] { modules.insert(module) }
  }

  func isEntity(_ name: QualifiedName) -> Bool { entities.contains(name) }

  /// A type of the schema where a type is expected.
  func type(_ name: QualifiedName, in scope: Scope) -> String {
    spelling(name, in: scope, hidden: scope.generated.types)
  }

  /// A type of the schema in an expression.
  func expression(_ name: QualifiedName, in scope: Scope) -> String {
    spelling(name, in: scope, hidden: scope.hiddenInExpressions)
  }

  /// A type of another schema in an expression.
  func expression(_ path: [String], in scope: Scope) -> String {
    spelling(path, in: scope, hidden: scope.hiddenInExpressions)
  }

  /// An entity, its builder or its change request inside one of them: without the namespace, if
  /// possible.
  func near(_ path: [String], in scope: Scope) -> String {
    spelling(path, in: scope, hidden: scope.generated.types, isNear: true)
  }

  /// The same in an expression.
  func nearExpression(_ path: [String], in scope: Scope) -> String {
    spelling(path, in: scope, hidden: scope.hiddenInExpressions, isNear: true)
  }

  private func spelling(_ name: QualifiedName, in scope: Scope, hidden: Set<String>) -> String {
    guard let module = imported.types[name] else {
      let path = path(name)
      let spelling = spelling(path, in: scope, hidden: hidden)
      if spelling == qualified(path) { importNamespace(name.namespace) }
      return spelling
    }
    // The module selector applies to the first name alone, which may be a namespace of yet another
    // module.
    let first = imported.namespaces[Array(name.namespace.prefix(1))] ?? module
    modules.formUnion([module, first])
    return "\(Identifier.escaped(first))::\(qualified(name))"
  }

  private func spelling(
    _ path: [String], in scope: Scope, hidden: Set<String>, isNear: Bool = false
  ) -> String {
    let isFound = finds(path[path.count - 1], in: scope, hidden) == path.dropLast()
    if isFound, isNear { return declared(path) }
    if finds(path[0], in: scope, hidden) == [] { return qualified(path) }
    if isFound { return declared(path) }
    aliases.insert(path)
    return alias(of: path)
  }

  /// The namespace in which a name is found from a scope; nil if a member of a type is found.
  private func finds(_ name: String, in scope: Scope, _ hidden: Set<String>) -> [String]? {
    if hidden.contains(name) { return nil }
    if let type = scope.type, members[type].contains(name) { return type }
    if members[scope.namespace].contains(name) { return scope.namespace }
    return []
  }

  /// The name of a type's alias. Where two types would have the same, the underscores inside of
  /// their names are doubled.
  func alias(of path: [String]) -> String {
    let name = path.joined(separator: "_")
    if !ambiguousAliases.contains(name) { return aliasPrefix + name }
    return aliasPrefix
      + path.map { $0.replacing("_", with: "__") }.joined(separator: "_")
  }

  /// `name`, with underscores in front until neither a field nor a type of the schema has it: for
  /// variables of generated code.
  func fresh(_ name: String, beside fields: [SwiftField]) -> String {
    Identifier.fresh(name, avoiding: typeNames.union(fields.map(\.name)))
  }

  /// The Swift paths of the types that an entity has beside it.
  struct Companions {
    var builder: [String]
    var request: [String]
  }

  /// The builder and the change request of an entity. Underscores are appended to their names if
  /// another type or a namespace has them.
  func companions(of entity: QualifiedName) -> Companions {
    companions[entity] ?? Companions(builder: path(entity), request: path(entity))
  }

  /// A type of the standard library.
  func swift(_ name: String) -> String { library("Swift", name) }

  /// A type of Dflat.
  func dflat(_ name: String) -> String {
    library("Dflat", Self.general.contains(name) ? "Dflat\(name)" : name)
  }

  /// The protocol of unions. As a conformance, `Dflat::FlatBuffersUnion` does not mean the protocol
  /// beside a type of that name.
  var union: String {
    dflat(hidingNames.contains("FlatBuffersUnion") ? "DflatUnion" : "FlatBuffersUnion")
  }

  /// A type of Foundation.
  func foundation(_ name: String) -> String { library("Foundation", name) }

  /// A type of the FlatBuffers runtime.
  func runtime(_ name: String) -> String { library("FlatBuffersRuntime", name) }

  /// With `::` the name before it is always a module, whatever else has that name.
  private func library(_ module: String, _ name: String) -> String {
    hidingNames.contains(name) ? "\(module)::\(name)" : name
  }

  /// Dflat's types whose names programs are likely to use for their own types. Dflat declares other
  /// names for them (GeneratedNames.swift).
  private static let general: Set<String> = [
    "Atom", "Row", "Field", "Property", "Reference", "Condition",
  ]

  /// The names of the types and namespaces inside a type.
  func namesInside(_ path: [String]) -> Set<String> { members[path] }

  func definition(_ name: QualifiedName) -> TypeDefinition? { schema.types[name] }

  func enumeration(_ name: QualifiedName) -> EnumDefinition? {
    guard case .enumeration(let definition) = schema.types[name] else { return nil }
    return definition
  }

  func structure(_ name: QualifiedName) -> StructDefinition? {
    guard case .structure(let definition) = schema.types[name] else { return nil }
    return definition
  }
}
