// FieldScope: the fields at a place of a condition by their names in the schema, without the Swift
// types that generated code has for them.
//
// A condition that is written as text is made of the same descriptors and nodes as a typed one, so
// it means the same.

/// What a name stands for.
package enum NamedMember: Sendable {
  /// A scalar, enum or string. `target` has the fields of the object whose key it is, if it is a
  /// reference.
  case value(FieldDescriptor, Property.Kind, target: FieldScope?)
  /// A table or struct.
  case object(FieldScope)
  case union(UnionScope)
  case vector(VectorScope)
}

/// The fields of a row's object, of a table or struct, of an element, or of a related object.
package struct FieldScope: Sendable {
  let ways: [FieldPath]
  let schema: EntitySchema
  /// The entity whose fields these are; nil for those of a plain table or struct.
  let entity: EntitySchema?

  /// The fields of the objects of a type.
  package init(_ schema: EntitySchema) {
    self.init([schema.root], schema, entity: schema)
  }

  fileprivate init(_ ways: [FieldPath], _ schema: EntitySchema, entity: EntitySchema? = nil) {
    self.ways = ways
    self.schema = schema
    self.entity = entity
  }

  /// The fields, in the order of the schema.
  package var properties: [Property] {
    switch ways[0].place {
    case .table(let layout): layout.properties
    case .structure(let layout, _): layout.properties
    case .union: []
    }
  }

  /// What a name stands for; nil if there is no such field.
  package func member(_ name: String) -> NamedMember? {
    guard let property = properties.first(where: { $0.name == name }) else { return nil }
    let offset = property.offset
    switch property.kind {
    case .scalar, .enumeration, .string:
      let field = descriptor(ways.map { $0.field(offset, in: schema) })
      let target = entity?.reference(at: offset)?.target
      return .value(field, property.kind, target: target.map { FieldScope(by: field, $0, schema) })
    case .structure, .table:
      return .object(FieldScope(ways.map { $0.reference(offset) }, schema))
    case .union: return .union(UnionScope(ways, offset, schema))
    case .vector:
      return .vector(
        VectorScope(
          containers: ways, offset: offset, schema: schema,
          target: entity?.reference(at: offset)?.target))
    case .array: return nil
    }
  }

  /// True if the table or struct is stored, unknown otherwise.
  package var presence: Node { .field(descriptor(ways.map(\.presence))) }

  /// The fields of the object with a key.
  fileprivate init(by key: FieldDescriptor, _ target: EntitySchema, _ schema: EntitySchema) {
    self.init(
      [
        FieldPath(
          name: "", steps: [], place: .table(target.layout), relation: TargetPath([key], target))
      ], schema, entity: target)
  }
}

/// A union, or an element of a vector of unions.
package struct UnionScope: Sendable {
  private let containers: [FieldPath]
  private let offset: Int
  private let schema: EntitySchema

  fileprivate init(_ containers: [FieldPath], _ offset: Int, _ schema: EntitySchema) {
    self.containers = containers
    self.offset = offset
    self.schema = schema
  }

  /// The tag of the stored member; unknown for an empty union.
  package var tag: FieldDescriptor {
    descriptor(containers.map { $0.unionTag(offset, in: schema) })
  }

  /// The members, in the order of their tags.
  package var members: [UnionLayout.Member] {
    if case .union(let layout, _) = containers[0].place { return layout.members }
    guard case .union(let layout)? = containers[0].property(offset)?.kind else { return [] }
    return layout().members
  }

  /// The value of a member; nil if there is no such member.
  package func member(_ name: String) -> NamedMember? {
    guard let member = members.first(where: { $0.name == name }) else { return nil }
    if case .string = member.kind {
      let fields = containers.map { $0.stringMember(offset, member.tag, in: schema) }
      return .value(descriptor(fields), member.kind, target: nil)
    }
    return .object(FieldScope(containers.map { $0.member(offset, member.tag) }, schema))
  }
}

/// A vector.
package struct VectorScope: Sendable {
  fileprivate let containers: [FieldPath]
  fileprivate let offset: Int
  fileprivate let schema: EntitySchema
  fileprivate let target: EntitySchema?

  /// The number of elements.
  package var count: FieldDescriptor { descriptor(containers.map { $0.vector(offset) }) }

  /// A variable for an element, and what it stands for.
  package func element() -> (ElementVariable, NamedMember) {
    let variable = ElementVariable(containers, offset)
    switch variable.kind {
    case .structure, .table: return (variable, .object(FieldScope([variable.reference], schema)))
    case .union: return (variable, .union(UnionScope([variable.reference], 0, schema)))
    case .scalar, .enumeration, .string, .vector, .array:
      let value = variable.value
      let scope = target.map { FieldScope(by: value, $0, schema) }
      return (variable, .value(value, variable.kind, target: scope))
    }
  }
}

/// One field, or the same field of several union members.
private func descriptor(_ fields: [FieldDescriptor]) -> FieldDescriptor {
  fields.count == 1 ? fields[0] : FieldDescriptor(oneOf: fields)
}

extension SearchCondition {
  /// A search for words, as `Post.search` and `Post.title.search` make them.
  /// - Parameter field: The field that is searched; nil for all that the schema names.
  package static func words(
    _ text: String, in field: FieldDescriptor?, of schema: EntitySchema
  ) throws(SearchSyntaxError) -> SearchCondition {
    let fields = field.map { $0.alternatives.isEmpty ? [$0] : $0.alternatives }
    let name = field.map { schema.name(of: $0) + "." } ?? ""
    return try SearchCondition(
      SearchSyntax(words: text), in: fields ?? schema.fullText?.columns.map(\.field) ?? [],
      of: schema, text: "\(name)search(\(String(reflecting: text)))", search: text)
  }
}
