// Relations with a rule: which values refer to some ids, and what becomes of them.
//
// A type knows its own relations only. Those that lead to it are found among the types that the
// silos know; see `KnownRelations`.

public import Dflat

/// A relation of a stored type that retains what it refers to, or has a rule for deletions. For
/// generated code.
public protocol ValueRelation: Sendable {
  /// The type that has the property.
  associatedtype Owner: Persistable
  /// The type of the values that it refers to.
  associatedtype Target: Persistable
  /// The name of the property.
  var _name: String { get }
  /// Whether managed values keep what they refer to.
  var _retains: Bool { get }
  /// What a deletion of a value that is referred to does.
  var _rule: DeletionRule { get }
  /// The condition that values refer to any of these ids.
  func _refers(to ids: [Target.ID]) -> Condition<Canonical<Owner>>
  /// The ids that a value refers to.
  func _ids(of owner: Owner) -> [Target.ID]
  /// Takes items out of a value's relation.
  func _remove(_ isRemoved: (Target.ID) -> Bool, from owner: inout Owner)
}

/// A relation of a stored type, as its macro describes it. For generated code.
public struct CanonicalRelation<
  Owner: Persistable, Relation: StoredRelation
>: ValueRelation {
  /// The type of the values that the relation refers to.
  public typealias Target = Relation.Target
  /// The name of the property.
  public let _name: String
  /// Whether managed values keep what they refer to.
  public let _retains: Bool
  /// What a deletion of a value that is referred to does.
  public let _rule: DeletionRule
  private let slot: Int
  private let get: @Sendable (Owner) -> Relation
  private let set: (@Sendable (inout Owner, Relation) -> Void)?

  /// A relation.
  /// - Parameters:
  ///   - name: The name of the property.
  ///   - slot: Its slot.
  ///   - retains: Whether managed values keep what they refer to.
  ///   - rule: What a deletion of a value that is referred to does.
  ///   - get: Reads the property.
  ///   - set: Changes the property; nil if it is a constant.
  public init(
    _ name: String, _ slot: Int, retains: Bool = false, onDeletion rule: DeletionRule = .nothing,
    get: @escaping @Sendable (Owner) -> Relation,
    set: (@Sendable (inout Owner, Relation) -> Void)? = nil
  ) {
    _name = name
    _retains = retains
    _rule = rule
    self.slot = slot
    self.get = get
    self.set = set
  }

  /// The condition that values refer to any of these ids.
  public func _refers(to ids: [Target.ID]) -> Condition<Canonical<Owner>> {
    Relation._refers(CanonicalFields.offset(slot), to: ids.map { $0._key })
  }

  /// The ids that a value refers to.
  public func _ids(of owner: Owner) -> [Target.ID] { get(owner)._items.map { $0.id } }

  /// Takes items out of a value's relation.
  public func _remove(_ isRemoved: (Target.ID) -> Bool, from owner: inout Owner) {
    var relation = get(owner)
    _ = relation._remove(isRemoved)
    set?(&owner, relation)
  }
}

/// A relation as the type of a property: `RelatedItem`, `RelatedItem?`, `RelatedItems`,
/// `RelatedList`. For generated code.
public protocol StoredRelation: ResolvableRelation {
  /// The condition that the relation in a field has any of these keys.
  static func _refers<Root: Atom>(
    _ field: Int, to keys: [Target.ID._Key]
  ) -> Condition<Root>
  /// Takes items out.
  /// - Returns: Whether there is still a relation; false if its only item was taken out.
  mutating func _remove(_ isRemoved: (Target.ID) -> Bool) -> Bool
}

extension RelatedItem: StoredRelation {
  /// The condition that the item in a field has any of these keys.
  public static func _refers<Root: Atom>(
    _ field: Int, to keys: [Value.ID._Key]
  ) -> Condition<Root> {
    Field<Value.ID._Key, Root>(field).in(keys)
  }
  /// An item is not changed.
  public mutating func _remove(_ isRemoved: (Value.ID) -> Bool) -> Bool { !isRemoved(id) }
}

extension Optional: StoredRelation where Wrapped: StoredRelation {
  /// The condition that the relation in a field has any of these keys.
  public static func _refers<Root: Atom>(
    _ field: Int, to keys: [Wrapped.Target.ID._Key]
  ) -> Condition<Root> {
    Wrapped._refers(field, to: keys)
  }
  /// Becomes nil if its only item is taken out.
  public mutating func _remove(_ isRemoved: (Wrapped.Target.ID) -> Bool) -> Bool {
    if self?._remove(isRemoved) == false { self = nil }
    return true
  }
}

extension RelatedItems: StoredRelation {
  /// The condition that the items in a field have any of these keys.
  public static func _refers<Root: Atom>(
    _ field: Int, to keys: [Value.ID._Key]
  ) -> Condition<Root> {
    VectorField<Value.ID._Key, Root>(field).any { $0.in(keys) }
  }
  /// Takes items out.
  public mutating func _remove(_ isRemoved: (Value.ID) -> Bool) -> Bool {
    for id in byID.keys.map(\.key) where isRemoved(id) { remove(id: id) }
    return true
  }
}

extension RelatedList: StoredRelation {
  /// The condition that the items in a field have any of these keys.
  public static func _refers<Root: Atom>(
    _ field: Int, to keys: [Value.ID._Key]
  ) -> Condition<Root> {
    VectorField<Value.ID._Key, Root>(field).any { $0.in(keys) }
  }
  /// Takes items out.
  public mutating func _remove(_ isRemoved: (Value.ID) -> Bool) -> Bool {
    removeAll { isRemoved($0.id) }
    return true
  }
}
