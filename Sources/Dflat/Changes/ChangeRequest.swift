// Change requests: what a transaction is asked to do with one object.
//
// A generated request holds the values of the fields that were set. The pending change says what the request is for, which
// fields those are, and over which row they are laid: all others read from there, and stay in the object as they are.

public import FlatBuffersRuntime

/// A creation, update or deletion of one object, to be submitted in a transaction. Conformances are generated.
///
/// Requests are used where their transaction runs, on no actor: extensions of a program's own are
/// `nonisolated` without saying so, also in a module that belongs to the main actor.
public protocol ChangeRequest<Element>: AnyObject, SendableMetatype {
  associatedtype Element: Atom
  var _change: PendingChange { get set }
  /// Writes the fields that were set as a root table; all others are left out, as are defaults.
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
  enum Kind: UInt8 {
    case creation, update, deletion
    /// It succeeded.
    case spent
  }

  var kind: Kind
  /// The row whose fields stay as they are: the stored one as it was when the request was made, or the one to be copied.
  @usableFromInline let base: Row?
  /// Of the transaction when the row was looked up.
  let version: Transaction.Version
  /// The fields that are not the row's any more.
  @usableFromInline var fields: FieldSet
  #if DEBUG
    @usableFromInline var watch: RequestWatch?
  #endif
  /// Why the object that the values come from cannot be stored.
  let refusal: String?

  private init(
    _ kind: Kind, over base: Row?, at version: Transaction.Version = .none,
    _ fields: FieldSet = .none, refusal: String? = nil
  ) {
    self.refusal = refusal
    self.kind = kind
    self.base = base
    self.version = version
    self.fields = fields
  }

  /// A new object.
  public static func creation<Element: Atom>(of type: Element.Type) -> PendingChange {
    PendingChange(.creation, over: nil).watched(Element._schema)
  }

  /// A new object that begins as a copy of another one.
  public static func creation<Element: Atom>(of object: Element) -> PendingChange {
    PendingChange(.creation, over: object._row, refusal: object._row.refusal)
      .watched(Element._schema)
  }

  /// An update of the object that is stored now; nil if it is not.
  @inlinable
  public static func update<Element: Atom>(of object: Element) -> PendingChange? {
    update(object._row, Element._schema)
  }

  /// An update that sets all fields of the object that is stored now, or its creation.
  @inlinable
  public static func upsert<Element: Atom>(of object: Element) -> PendingChange {
    upsert(object._row, Element._schema)
  }

  /// The deletion of the object that is stored now; nil if it is not.
  @inlinable
  public static func deletion<Element: Atom>(of object: Element) -> PendingChange? {
    deletion(object._row, Element._schema)
  }

  /// The row that fields are read from which were not set.
  @inlinable @inline(__always)
  public var row: Row {
    guard let base else { preconditionFailure("a request for a new object has no row") }
    return base
  }

  /// Whether a field has the request's own value, and not the row's.
  @inlinable @inline(__always)
  public func isSet(_ field: Int) -> Bool {
    base == nil || fields.contains(field)
  }

  /// A field gets a value of the request's own.
  @inlinable @inline(__always)
  public mutating func set(_ field: Int) {
    fields.insert(field)
    #if DEBUG
      watch?.isChanged = true
    #endif
  }

  // What follows is not generic, so that it is compiled once.

  @usableFromInline
  static func update(_ row: Row, _ schema: EntitySchema) -> PendingChange? {
    let transaction = Transaction.current(for: "changeRequest(_:)")
    guard let stored = transaction.lookUp(row, schema, for: "changeRequest(_:)") else { return nil }
    return PendingChange(.update, over: stored, at: transaction.version).watched(schema)
  }

  @usableFromInline
  static func upsert(_ row: Row, _ schema: EntitySchema) -> PendingChange {
    let transaction = Transaction.current(for: "upsertRequest(_:)")
    guard let stored = transaction.lookUp(row, schema, for: "upsertRequest(_:)") else {
      return PendingChange(.creation, over: row, refusal: row.refusal).watched(schema)
    }
    return PendingChange(
      .update, over: stored, at: transaction.version, .all, refusal: row.refusal
    ).watched(schema)
  }

  @usableFromInline
  static func deletion(_ row: Row, _ schema: EntitySchema) -> PendingChange? {
    let transaction = Transaction.current(for: "deletionRequest(_:)")
    let stored = transaction.lookUp(
      row, schema, for: "deletionRequest(_:)", acceptsDamaged: true)
    return stored.map { PendingChange(.deletion, over: $0) }
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
