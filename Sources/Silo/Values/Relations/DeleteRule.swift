// DeleteRule: what a deletion does to the values that refer to what is deleted.

/// What happens to a value that refers to another one when that one is deleted.
///
///     @DeleteRule(.cascade) var list: RelatedItem<TaskList>
///
/// The rules are those of the property that refers. They hold for ``Silo/delete(_:)-(Value.ID)``,
/// not for `remove` and `evict`.
public enum DeleteRule: Sendable, Hashable {
  /// Nothing: the value goes on referring to what is not there.
  case nothing
  /// The deletion is refused, unless it deletes the value, too.
  case deny
  /// The relation becomes nil, or loses the item.
  case nullify
  /// The value is deleted, too.
  case cascade
}
