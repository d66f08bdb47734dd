// What a watch sees.

/// A change of an object that was committed.
public struct ObjectChange: Sendable, Encodable {
  /// What was done.
  public enum Kind: String, Sendable, Encodable {
    /// The object is new.
    case inserted
    /// The object has other values.
    case updated
    /// The object is gone.
    case deleted
  }

  /// A field that got another value, both as JSON.
  public struct Field: Sendable, Encodable {
    /// The name of the field.
    public let name: String
    /// The value before.
    public let old: String
    /// The value now.
    public let new: String
  }

  /// What was done.
  public let kind: Kind
  /// The name of the type.
  public let type: String
  /// The table of the type, which no other type has: types of several namespaces may share a name.
  public let table: String
  /// The id of its row.
  public let row: Int64
  /// The values of the key as text, in the order of its fields; the new ones if they were changed.
  /// Empty if the object is gone and was not kept in memory.
  public let key: [String]
  /// The fields that got other values, in the order of their names; empty unless it was updated,
  /// and if the object before was not kept in memory.
  public let fields: [Field]
}

/// What was committed between two looks; see
/// ``DataStore/follow(every:keeping:reportingAtMost:until:began:noticed:_:)``.
public struct CommittedChanges: Sendable, Encodable {
  /// The changes, by type; not all if there are many.
  public internal(set) var changes: [ObjectChange] = []
  /// How many objects were changed.
  public internal(set) var count = 0
}
