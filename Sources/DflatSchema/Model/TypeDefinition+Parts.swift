// The types that a type contains.

extension TypeDefinition {
  /// The types of a type's fields or members, with their positions. Deprecated fields are left out.
  public var parts: [(type: FieldType, position: SourcePosition)] {
    switch self {
    case .enumeration: []
    case .structure(let structure): Self.parts(structure.fields)
    case .table(let table): Self.parts(table.fields)
    case .union(let union): union.members.map { ($0.type, $0.position) }
    }
  }

  private static func parts(
    _ fields: [FieldDefinition]
  ) -> [(type: FieldType, position: SourcePosition)] {
    fields.filter { !$0.isDeprecated }.map { ($0.type, $0.position) }
  }
}

extension FieldType {
  /// The declared type that this one is or has as elements; nil for scalars and strings.
  public var declaredName: QualifiedName? {
    switch self {
    case .scalar, .string: nil
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name): name
    case .vector(let element), .array(let element, _): element.declaredName
    }
  }
}
