// Fields beyond an object: values of the object that a reference names, and of those that refer to
// it.
//
// To conditions they are fields like others, so every operator works for them. No engine knows
// them: before a query is planned they are replaced by what is known of the other objects (see
// RelationResolver). Invariants:
//
//  - A field with a related value has no column.
//  - The fields of a related object are those of its own schema, so a chain of relations is a chain
//    of keys: the key of a relation may itself be a related value.

/// A value that depends on a key of the object and on other objects.
protocol RelatedValue: AnyObject, Sendable {
  /// The fields of the object by which the others are found: one for each field of a primary key.
  /// Either all of them are fields of the row's own object, or all are related values of the same
  /// other object.
  var keys: [FieldDescriptor] { get }
  /// The type of the other objects.
  var other: EntitySchema { get }
  /// The name in conditions.
  func name(in schema: EntitySchema) -> String
  /// The same value for another key.
  func with(_ keys: [FieldDescriptor]) -> any RelatedValue
}

extension RelatedValue {
  /// The first of the fields, from which the way to the row's own object is the same as from all.
  var key: FieldDescriptor { keys[0] }
}

/// A field of the object whose primary key is the value of other fields.
final class TargetField: RelatedValue {
  let path: TargetPath
  /// The field, in the other object's own schema.
  let field: FieldDescriptor

  var keys: [FieldDescriptor] { path.keys }
  var other: EntitySchema { path.target }

  init(_ path: TargetPath, _ field: FieldDescriptor) {
    self.path = path
    self.field = field
  }

  func name(in schema: EntitySchema) -> String {
    let name = field.leaf == .presence ? "related" : other.name(of: field)
    return "\(schema.name(ofKey: keys)).\(name)"
  }

  func with(_ keys: [FieldDescriptor]) -> any RelatedValue {
    TargetField(TargetPath(keys, other), field)
  }
}

/// The way from an object to the one that a reference names.
final class TargetPath: Sendable {
  /// The fields with the key, in the order of the fields of the target's key.
  let keys: [FieldDescriptor]
  let target: EntitySchema

  init(_ keys: [FieldDescriptor], _ target: EntitySchema) {
    self.keys = keys
    self.target = target
  }

  /// Whether both lead to the same object.
  func leads(to other: TargetPath) -> Bool { keys == other.keys && target === other.target }
}

extension FieldDescriptor {
  /// The field of the row's own object by which a related value is found, over any number of other
  /// objects; for any other field the field itself.
  var firstKey: FieldDescriptor {
    var field = self
    while let related = field.related { field = related.key }
    return field
  }

  /// A field of the object that a reference names.
  convenience init(through relation: TargetPath, _ field: FieldDescriptor) {
    self.init(TargetField(relation, field), field, name: field.path)
  }

  /// A related value of the type of a field.
  convenience init(_ related: any RelatedValue, _ field: FieldDescriptor, name: String) {
    self.init(
      path: "\(related.keys.map(\.path).joined(separator: ","))>\(related.other.table)>\(name)",
      type: field.type,
      steps: field.steps, leaf: field.leaf, defaultValue: field.defaultValue, domain: field.domain,
      form: field.form, column: nil, related: related)
  }
}

extension EntitySchema {
  /// The name of a key in conditions: `author`, or `(site, number)` if it has several fields.
  func name(ofKey fields: [FieldDescriptor]) -> String {
    let names = fields.map { name(of: $0) }.joined(separator: ", ")
    return fields.count == 1 ? names : "(\(names))"
  }
}
