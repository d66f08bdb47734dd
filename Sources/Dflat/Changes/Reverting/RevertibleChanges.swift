// RevertibleChanges: the changes of a part of a transaction, as values.

/// Changes that a transaction has made and a later one may take back: the objects that were
/// inserted, changed or deleted, before and after.
///
/// ``WriteContext/revertible(_:)`` makes it, and ``WriteContext/revert(_:)`` takes the changes
/// back. It is a value: you may keep it as long as you like and pass it to any thread. It holds the
/// objects in memory, and ends with the program.
public struct RevertibleChanges: Sendable {
  /// The change of an object. An inserted one has no `old`, a deleted one no `new`.
  struct Change: Sendable {
    let schema: EntitySchema
    let old: Row?
    let new: Row?
  }

  let changes: [Change]

  /// The number of objects that were inserted, changed or deleted.
  public var count: Int { changes.count }

  /// Whether nothing was changed.
  public var isEmpty: Bool { changes.isEmpty }
}

/// What became of changes that were taken back.
public struct Reversal: Sendable, CustomStringConvertible {
  /// Why something is not as before.
  public enum Reason: Sendable {
    /// The object has been changed since.
    case changed
    /// The object has been deleted since, so nothing of it is put back.
    case deleted
    /// The object was deleted, and another one with its key has been stored since.
    case replaced
    /// It is refused: another object has the key or a unique value now, a `StorageError`; or
    /// another object refers to the one that was inserted, a ``DeletionDenied``.
    case refused(any Error)
  }

  /// An object that is not as before.
  public struct Remainder: Sendable, CustomStringConvertible {
    /// The type of the object.
    public let entity: String
    /// Its primary key with the schema's names: `handle: "ada"`.
    public let key: String
    /// The Swift names of the fields that are not as before, in the order of the schema; that of a
    /// field of a nested table begins with the table's: `author.name`. The other fields that the
    /// changes had set are as before. Empty if it is about the object as a whole.
    public let fields: [String]
    /// The Swift names of the fields that were taken back nevertheless, in the same order.
    public let revertedFields: [String]
    /// Why it is not.
    public let reason: Reason

    /// The object, the fields and the reason, and what was taken back:
    /// `Post (number: 1): likes: changed since; priority reverted`.
    public var description: String {
      let names = fields.isEmpty ? "" : fields.joined(separator: ", ") + ": "
      let text =
        switch reason {
        case .changed: "changed since"
        case .deleted: "deleted since"
        case .replaced: "stored again since"
        case .refused(let error): "\(error)"
        }
      let reverted =
        revertedFields.isEmpty ? "" : "; \(revertedFields.joined(separator: ", ")) reverted"
      return "\(entity) (\(key)): \(names)\(text)\(reverted)"
    }
  }

  /// The number of objects that are as before, as far as the changes concern them.
  public internal(set) var reverted = 0
  /// The objects of which something is not as before.
  public internal(set) var remainders: [Remainder] = []

  /// Whether all objects are as before.
  public var isComplete: Bool { remainders.isEmpty }

  /// How many objects are as before, and which are not:
  /// `2 objects reverted; Post (number: 1): likes: changed since; priority reverted`.
  public var description: String {
    (["\(reverted) \(reverted == 1 ? "object" : "objects") reverted"]
      + remainders.map(\.description))
      .joined(separator: "; ")
  }
}
