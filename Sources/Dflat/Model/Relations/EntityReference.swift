// References: fields whose values are primary keys of other entities, as data.
//
// An entity knows its own references, and which types refer to it with a rule for its deletion.
// Both name other types by closures, because types may refer to each other in circles and each
// schema is created at its first use.

import Platform

/// What happens to the objects that refer to an object which is deleted.
public enum DeletionRule: Sendable, Hashable {
  /// They keep the key, which then refers to nothing.
  case nothing
  /// The object is not deleted as long as another one refers to it.
  case deny
  /// The key is removed from them.
  case nullify
  /// They are deleted, too.
  case cascade
}

/// The fields with the primary key of an entity, or a vector of such keys. Generated code declares
/// them.
public struct EntityReference: Sendable {
  /// The vtable offsets of the fields in the root table, in the order of the fields of the key.
  package let offsets: [Int]
  /// What happens when the entity is deleted.
  package let rule: DeletionRule
  private let findTarget: @Sendable () -> EntitySchema

  /// The entity that the fields refer to.
  package var target: EntitySchema { findTarget() }

  /// A reference by several fields, to an entity with a compound primary key. An object in which
  /// one of them has no value refers to nothing.
  ///
  /// - Parameters:
  ///   - offsets: The vtable offsets of the fields, in the order of the fields of the key.
  ///   - target: The entity's schema.
  ///   - rule: What happens when the entity is deleted.
  public init(
    _ offsets: [Int], to target: @escaping @Sendable () -> EntitySchema,
    onDeletion rule: DeletionRule
  ) {
    self.offsets = offsets
    self.rule = rule
    findTarget = target
  }

  /// A reference by one field, to an entity with a primary key of one field.
  ///
  /// - Parameters:
  ///   - offset: The vtable offset of the field.
  ///   - target: The entity's schema.
  ///   - rule: What happens when the entity is deleted.
  public init(
    _ offset: Int, to target: @escaping @Sendable () -> EntitySchema, onDeletion rule: DeletionRule
  ) {
    self.init([offset], to: target, onDeletion: rule)
  }
}

extension EntitySchema {
  /// The reference of a field; nil if the field by itself is no reference.
  package func reference(at offset: Int) -> EntityReference? {
    references.first { $0.offsets == [offset] }
  }

  /// The names of some fields in the schema, which together are a reference.
  func name(ofReference offsets: [Int]) -> String {
    offsets.map { layout.property(at: $0)?.name ?? "f\($0)" }.joined(separator: ", ")
  }

  /// A reference to this type that has a rule.
  struct Referrer {
    let schema: EntitySchema
    let reference: EntityReference
  }

  /// The references to this type whose rules its deletions follow.
  var rules: [Referrer] {
    referrers.flatMap { find in
      let schema = find()
      return schema.references.compactMap { reference in
        reference.rule == .nothing || reference.target !== self
          ? nil : Referrer(schema: schema, reference: reference)
      }
    }
  }

  /// The types whose objects a deletion of this type may read or change, with this type.
  var typesOfDeletion: [EntitySchema] {
    if let known = reach.withLock(\.self) { return known }
    let found = findTypesOfDeletion()
    reach.withLock { $0 = found }
    return found
  }

  private func findTypesOfDeletion() -> [EntitySchema] {
    var found = [self]
    // Only the rules of types whose objects are deleted are followed.
    var deleted = [self]
    var place = 0
    while place < deleted.count {
      for rule in deleted[place].rules {
        if !found.contains(rule.schema) { found.append(rule.schema) }
        if rule.reference.rule == .cascade, !deleted.contains(rule.schema) {
          deleted.append(rule.schema)
        }
      }
      place += 1
    }
    return found
  }
}
