// References: fields whose values are primary keys of entities.

/// What happens to the objects that refer to an object which is deleted.
public enum DeletionRule: String, Sendable, Hashable, CaseIterable {
  /// They keep the key, which then refers to nothing.
  case nothing
  /// The object is not deleted as long as another one refers to it.
  case deny
  /// The key is removed from them.
  case nullify
  /// They are deleted, too.
  case cascade
}

/// The `references` attribute of a field, with those that go with it, or what that of a table says
/// about several fields.
public struct ReferenceDefinition: Sendable, Hashable {
  /// The entity whose primary key the field has, or the fields have.
  public var target: QualifiedName
  /// `ondelete`.
  public var rule: DeletionRule
  /// `inverse`: the name of the relation from the target to the objects that refer to it.
  public var inverse: String?
  /// The position of the target's name.
  public var position: SourcePosition
  /// The position of the rule, if it is given.
  public var rulePosition: SourcePosition?

  /// Creates a reference from its parts.
  public init(
    target: QualifiedName, rule: DeletionRule = .nothing, inverse: String? = nil,
    position: SourcePosition, rulePosition: SourcePosition? = nil
  ) {
    self.target = target
    self.rule = rule
    self.inverse = inverse
    self.position = position
    self.rulePosition = rulePosition
  }
}

/// A reference by several fields of a table to an entity with a compound primary key.
public struct CompoundReference: Sendable, Hashable {
  /// The name of the relation in queries.
  public var name: String
  /// The names of the table's fields, in the order of the fields of the key.
  public var fields: [String]
  /// The entity and the rules.
  public var reference: ReferenceDefinition

  /// Creates a reference from its parts.
  public init(name: String, fields: [String], reference: ReferenceDefinition) {
    self.name = name
    self.fields = fields
    self.reference = reference
  }
}

extension TableDefinition {
  /// The references of the fields, then those by several fields.
  public var references: [ReferenceDefinition] {
    fields.compactMap(\.reference) + compoundReferences.map(\.reference)
  }

  /// The fields of a reference, in the order of the fields of the key.
  public func fields(of reference: CompoundReference) -> [FieldDefinition] {
    reference.fields.compactMap { name in fields.first { $0.name == name } }
  }
}
