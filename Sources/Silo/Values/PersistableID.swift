// PersistableID: the types of the ids of values.

public import Dflat

/// The type of a value's `id`: `String`, an integer, `UUID`, or a struct of these that is
/// `@PersistableValue`.
///
/// Two ids that are equal must have equal keys. Strings with the same characters but different
/// Unicode scalars have different keys: silos compare bytes.
public protocol PersistableID: Hashable, Sendable {
  /// The stored form of an id.
  associatedtype _Key: PersistableProperty & PrimaryKey & DflatFriendlyValue & PersistableID
  /// The stored form of this id.
  var _key: _Key { get }
  /// The id with a stored form; nil if there is none.
  init?(_key: _Key)
  /// Whether two ids are the same for stores, which compare bytes.
  static func _isSame(_ left: Self, _ right: Self) -> Bool
}

extension PersistableID {
  /// Equal ids with the same stored form are the same: strings in them may be equal for Swift and
  /// have different bytes.
  @inlinable
  public static func _isSame(_ left: Self, _ right: Self) -> Bool {
    left == right && _Key._isSame(left._key, right._key)
  }
}
