// The Swift names of definitions: from `swift_name`, otherwise derived from the schema's name as in
// Naming.swift.

extension FieldDefinition {
  /// The name in Swift, without back-ticks.
  public var swiftName: String { chosenName ?? camel(name) }
}

extension EnumDefinition.Value {
  /// The name of the case in Swift, without back-ticks.
  public var swiftName: String { enumCaseName(name) }
}

extension UnionDefinition.Member {
  /// The name of the case in Swift, without back-ticks.
  public var swiftName: String {
    typeName.map(caseName(ofType:)) ?? unionCaseName(name)
  }
}

extension TypeDefinition {
  /// The name in Swift, without namespace and back-ticks.
  public var swiftName: String { chosenName ?? typeName(name) }

  /// The full name in the schema.
  public var name: QualifiedName {
    switch self {
    case .enumeration(let value): value.name
    case .structure(let structure): structure.name
    case .table(let table): table.name
    case .union(let union): union.name
    }
  }

  /// The value of `swift_name`.
  private var chosenName: String? {
    switch self {
    case .enumeration(let value): value.chosenName
    case .structure(let structure): structure.chosenName
    case .table(let table): table.chosenName
    case .union(let union): union.chosenName
    }
  }
}

extension Schema {
  /// The name of a type in Swift, without namespace and back-ticks.
  public func swiftName(of name: QualifiedName) -> String {
    types[name]?.swiftName ?? typeName(name)
  }
}
