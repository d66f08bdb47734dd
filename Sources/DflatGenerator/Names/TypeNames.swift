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
//    others (GeneratedNames.swift).

import DflatSchema

final class TypeNames {
  private let schema: Schema
  /// Tables that are the root of the file that declares them.
  let entities: Set<QualifiedName>
  /// All names that could hide a library's name.
  private let hidingNames: Set<String>
  /// The types and namespaces directly in each namespace ([] is the module).
  private var members: [[String]: Set<String>] = [:]
  /// Unique to the file, so that aliases of two files never conflict.
  private let aliasPrefix: String
  /// The types that some spelling needs an alias for.
  private(set) var aliases: Set<QualifiedName> = []

  private let imported: ImportedNames
  /// The other modules that spellings have used since the last call of `takeModules`.
  private var modules: Set<String> = []

  /// - Parameter others: Names that the Swift module declares beside the schema.
  init(
    schema: Schema, fileName: String, imported: ImportedNames = ImportedNames(),
    others: Set<String> = []
  ) {
    self.schema = schema
    self.imported = imported
    entities = Set(schema.files.compactMap(\.root))
    aliasPrefix =
      "_"
      + String(fileName.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }) + "_"
    var names = others
    for (name, definition) in schema.types {
      names.insert(definition.swiftName)
      names.formUnion(name.namespace)
      members[name.namespace, default: []].insert(definition.swiftName)
      for depth in name.namespace.indices {
        members[Array(name.namespace[..<depth]), default: []].insert(name.namespace[depth])
      }
      switch definition {
      case .table(let table): names.formUnion(table.fields.map(\.swiftName))
      case .structure(let structure): names.formUnion(structure.fields.map(\.swiftName))
      case .enumeration(let enumeration): names.formUnion(enumeration.values.map(\.swiftName))
      case .union(let union): names.formUnion(union.members.map(\.swiftName))
      }
    }
    for entity in entities {
      let companions = Self.companionSuffixes.map {
        Self.companion(of: entity, $0, in: schema)
      }
      members[entity.namespace, default: []].formUnion(companions)
      names.formUnion(companions)
    }
    hidingNames = names
  }

  /// The scope in which a spelling appears.
  struct Scope {
    /// The enclosing namespace; empty for an extension at file scope.
    var namespace: [String] = []
    /// The enclosing type, with its namespace.
    var type: [String]?
    /// Types from its conformances or generic parameters, which hide others of the same name.
    var hiddenTypes: Set<String> = []
    /// The names of its members, which hide types in expressions.
    var members: Set<String> = []
  }

  /// The bare name of a type, without back-ticks.
  func swiftName(_ name: QualifiedName) -> String { schema.swiftName(of: name) }

  /// The bare name of a type, as in its declaration.
  func declared(_ name: QualifiedName) -> String {
    Identifier.escaped(swiftName(name))
  }

  /// The names of a type as the first arguments of its layout: the schema's name, and the Swift
  /// name if it differs.
  func layoutName(_ name: QualifiedName) -> String {
    let swift = swiftName(name)
    return Literal.string(name.name)
      + (swift == name.name ? "" : ", swift: \(Literal.string(swift))")
  }

  /// The type's name with its namespace, valid at file scope.
  func qualified(_ name: QualifiedName) -> String {
    if imported.types[name] == nil, let module = imported.namespaces[name.namespace] {
      modules.insert(module)
    }
    return (name.namespace.map(Identifier.escaped) + [declared(name)]).joined(separator: ".")
  }

  /// Returns and clears the other modules that the spellings needed: each file imports its own.
  func takeModules() -> [String] {
    defer { modules = [] }
    return modules.sorted()
  }

  /// The Swift names that lead to a type, from file scope.
  func path(_ name: QualifiedName) -> [String] { name.namespace + [swiftName(name)] }

  /// The namespace as the extended type of an extension at file scope.
  func namespace(_ namespace: [String]) -> String {
    if let module = imported.namespaces[namespace] { modules.insert(module) }
    return namespace.map(Identifier.escaped).joined(separator: ".")
  }

  func isEntity(_ name: QualifiedName) -> Bool { entities.contains(name) }

  /// A type of the schema where a type is expected.
  func type(_ name: QualifiedName, in scope: Scope) -> String {
    spelling(name, in: scope, hidden: scope.hiddenTypes)
  }

  /// A type of the schema in an expression.
  func expression(_ name: QualifiedName, in scope: Scope) -> String {
    spelling(name, in: scope, hidden: scope.hiddenTypes.union(scope.members))
  }

  private func spelling(_ name: QualifiedName, in scope: Scope, hidden: Set<String>) -> String {
    let bare = swiftName(name)
    if let module = imported.types[name] {
      // The module selector applies to the first name alone, which may be a namespace of yet
      // another module.
      let first = imported.namespaces[Array(name.namespace.prefix(1))] ?? module
      modules.formUnion([module, first])
      return "\(Identifier.escaped(first))::\(qualified(name))"
    }
    if let first = name.namespace.first {
      if finds(first, in: scope, hidden) == [] { return qualified(name) }
      if finds(bare, in: scope, hidden) == name.namespace { return declared(name) }
    } else if finds(bare, in: scope, hidden) == [] {
      return declared(name)
    }
    aliases.insert(name)
    return alias(of: name)
  }

  /// The namespace in which a name is found from a scope; nil if a member of a type is found.
  private func finds(_ name: String, in scope: Scope, _ hidden: Set<String>) -> [String]? {
    if hidden.contains(name) { return nil }
    if let type = scope.type, members[type]?.contains(name) ?? false { return type }
    if members[scope.namespace]?.contains(name) ?? false { return scope.namespace }
    return []
  }

  func alias(of name: QualifiedName) -> String {
    aliasPrefix + (name.namespace + [swiftName(name)]).joined(separator: "_")
  }

  /// The builder of an entity, with an underscore appended if the schema has a type of that name.
  func builder(of entity: QualifiedName) -> String {
    Self.companion(of: entity, Self.companionSuffixes[0], in: schema)
  }

  /// The change request of an entity.
  func request(of entity: QualifiedName) -> String {
    Self.companion(of: entity, Self.companionSuffixes[1], in: schema)
  }

  private static let companionSuffixes = ["Builder", "ChangeRequest"]

  private static func companion(
    of entity: QualifiedName, _ suffix: String, in schema: Schema
  ) -> String {
    var name = schema.swiftName(of: entity) + suffix
    let taken = Set(
      schema.types.keys.filter { $0.namespace == entity.namespace }
        .map { schema.swiftName(of: $0) })
    while taken.contains(name) { name += "_" }
    return name
  }

  /// A type of the standard library.
  func swift(_ name: String) -> String { library("Swift", name) }

  /// A type of Dflat.
  func dflat(_ name: String) -> String {
    library("Dflat", Self.general.contains(name) ? "Dflat\(name)" : name)
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
