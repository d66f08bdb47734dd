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

import Platform

/// A value that depends on a key of the object and on other objects.
protocol RelatedValue: AnyObject, Sendable {
  /// The field of the object by which the others are found.
  var key: FieldDescriptor { get }
  /// The type of the other objects.
  var other: EntitySchema { get }
  /// The name in conditions.
  func name(in schema: EntitySchema) -> String
  /// The same value for another key.
  func with(_ key: FieldDescriptor) -> any RelatedValue
}

/// A field of the object whose primary key is the value of another field.
final class TargetField: RelatedValue {
  let path: TargetPath
  /// The field, in the other object's own schema.
  let field: FieldDescriptor

  var key: FieldDescriptor { path.key }
  var other: EntitySchema { path.target }

  init(_ path: TargetPath, _ field: FieldDescriptor) {
    self.path = path
    self.field = field
  }

  func name(in schema: EntitySchema) -> String {
    let name = field.leaf == .presence ? "related" : other.name(of: field)
    return "\(schema.name(of: key)).\(name)"
  }

  func with(_ key: FieldDescriptor) -> any RelatedValue {
    TargetField(TargetPath(key, other), field)
  }
}

/// The way from an object to the one that a reference names.
final class TargetPath: Sendable {
  let key: FieldDescriptor
  let target: EntitySchema

  init(_ key: FieldDescriptor, _ target: EntitySchema) {
    RelationUse.begin()
    self.key = key
    self.target = target
  }

  /// Whether both lead to the same object.
  func leads(to other: TargetPath) -> Bool { key == other.key && target === other.target }
}

/// Whether the process has ever used a relation in a condition. Until then no condition is examined
/// for related values.
enum RelationUse {
  private static let hasBegun = Atomic<Bool>(false)

  static var isPossible: Bool { hasBegun.load(ordering: .relaxed) }

  static func begin() { hasBegun.store(true, ordering: .relaxed) }
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
      path: "\(related.key.path)>\(related.other.table)>\(name)", type: field.type,
      steps: field.steps, leaf: field.leaf, defaultValue: field.defaultValue, domain: field.domain,
      form: field.form, column: nil, related: related)
  }
}
