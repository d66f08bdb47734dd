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

/// The `references` attribute of a field, with those that go with it.
public struct ReferenceDefinition: Sendable, Hashable {
  /// The entity whose primary key the field has.
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
