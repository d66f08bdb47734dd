// Change requests: what a transaction is asked to do with one object.
//
// A generated request holds the fields; the pending change says what they are for. Generated static functions make both.

public import FlatBuffersRuntime

/// A creation, update or deletion of one object, to be submitted in a transaction. Conformances are generated.
public protocol ChangeRequest<Element>: AnyObject {
  associatedtype Element: Atom
  var _change: PendingChange { get set }
  /// Writes the request's fields as the root table of a row.
  func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset

  /// A new object with the fields of `o`.
  static func creationRequest(_ o: Element) -> Self
  /// An update of the stored object, filled with its latest stored values; nil if it does not exist.
  static func changeRequest(_ o: Element) -> Self?
  /// An update with the values of `o` if it is stored, otherwise its creation.
  static func upsertRequest(_ o: Element) -> Self
  /// The deletion of the stored object; nil if it does not exist.
  static func deletionRequest(_ o: Element) -> Self?
}

/// What a request is for. For generated code.
public struct PendingChange {
  enum Kind {
    case creation
    /// The stored row as it was at a version of a transaction.
    case update(Row, version: Transaction.Version)
    case deletion(Row)
    case spent
  }

  var kind: Kind

  /// A request that succeeded.
  public static var spent: PendingChange { PendingChange(kind: .spent) }

  /// A new object.
  public static func creation() -> PendingChange {
    PendingChange(kind: .creation)
  }

  /// An update of the object that is stored now; nil if it is not.
  public static func update<Element: Atom>(of object: Element) -> PendingChange? {
    let transaction = Transaction.current(for: "changeRequest(_:)")
    return transaction.lookUp(object._row, Element._schema, for: "changeRequest(_:)").map {
      PendingChange(kind: .update($0, version: transaction.version))
    }
  }

  /// An update of the object that is stored now, or its creation.
  public static func upsert<Element: Atom>(of object: Element) -> PendingChange {
    let transaction = Transaction.current(for: "upsertRequest(_:)")
    let stored = transaction.lookUp(object._row, Element._schema, for: "upsertRequest(_:)")
    return stored.map { PendingChange(kind: .update($0, version: transaction.version)) }
      ?? PendingChange(kind: .creation)
  }

  /// The deletion of the object that is stored now; nil if it is not.
  public static func deletion<Element: Atom>(of object: Element) -> PendingChange? {
    let transaction = Transaction.current(for: "deletionRequest(_:)")
    return transaction.lookUp(
      object._row, Element._schema, for: "deletionRequest(_:)", acceptsDamaged: true
    ).map { PendingChange(kind: .deletion($0)) }
  }

  /// The stored row of an update or deletion, as it was when the request was made.
  public var stored: Row {
    switch kind {
    case .update(let row, _), .deletion(let row): row
    case .creation, .spent: preconditionFailure("a request for a new object has no stored row")
    }
  }
}

/// What a submitted request did.
public enum UpdatedObject<Element: Atom>: Sendable {
  /// Created; `_rowid` is its new row.
  case inserted(_: Element)
  /// Changed; the row is the same as before.
  case updated(_: Element)
  /// An update whose content equals what is stored: nothing was written.
  case identity(_: Element)
  /// Removed; the payload is the row id.
  case deleted(_: Int64)
}

extension UpdatedObject {
  @inlinable
  init(_ row: SubmittedRow) {
    switch row {
    case .inserted(let row): self = .inserted(Element(_row: row))
    case .updated(let row): self = .updated(Element(_row: row))
    case .identity(let row): self = .identity(Element(_row: row))
    case .deleted(let id): self = .deleted(id)
    }
  }
}

/// Why a request was refused.
public enum TransactionError: Error {
  /// The transaction was aborted before.
  case aborted
  /// The primary key, or the value of a unique field, belongs to another object. Nothing was changed by the request; the
  /// transaction goes on.
  case objectAlreadyExists
  /// No space is left. The transaction is aborted.
  case diskFull
  /// Any other failure of the storage. The transaction is aborted; the workspace's error hook hears the reason.
  case others

  init(_ error: StorageError) {
    switch error.cause {
    case .alreadyExists: self = .objectAlreadyExists
    case .diskFull: self = .diskFull
    default: self = .others
    }
  }
}
