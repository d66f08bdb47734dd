// Change requests: what a transaction is asked to do with one object.
//
// A generated request holds the values of the fields that were set. The pending change says what
// the request is for, which fields were set, and which row the others are read from. Fields that
// were not set keep their stored values.

public import FlatBuffersRuntime

/// A creation, update or deletion of one object, to be submitted in a transaction. Conformances are
/// generated.
///
/// Requests are used on the thread of their transaction and on no actor. A program's own extensions
/// are therefore `nonisolated` without saying so, also in a module whose default isolation is the
/// main actor.
public protocol ChangeRequest<Element>: AnyObject, SendableMetatype {
  associatedtype Element: Atom
  var _change: PendingChange { get set }
  /// Writes the fields that were set as a root table; all other fields and defaults are left out.
  func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset

  /// A new object with the fields of `o`.
  static func creationRequest(_ o: Element) -> Self
  /// An update of the stored object, filled with its latest stored values; nil if it does not
  /// exist.
  static func changeRequest(_ o: Element) -> Self?
  /// An update with the values of `o` if it is stored, otherwise its creation.
  static func upsertRequest(_ o: Element) -> Self
  /// The deletion of the stored object; nil if it does not exist.
  static func deletionRequest(_ o: Element) -> Self?
}

/// The purpose of a change request. For generated code.
public struct PendingChange {
  enum Kind: UInt8 {
    case creation, update, deletion
    /// The request has succeeded and cannot be submitted again.
    case spent
  }

  var kind: Kind
  /// The row that fields which were not set are read from: the stored row at the time of the
  /// request, or the row to copy.
  @usableFromInline let base: Row?
  /// The version of the transaction when the row was looked up.
  let version: Transaction.Version
  /// The fields that were set, which are not read from the row any more.
  @usableFromInline var fields: FieldSet
  #if DEBUG
    @usableFromInline var watch: RequestWatch?
  #endif
  /// Why the object that the values come from cannot be stored; nil if it can.
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

  /// The creation of a new object.
  public static func creation<Element: Atom>(of type: Element.Type) -> PendingChange {
    PendingChange(.creation, over: nil).watched(Element._schema)
  }

  /// The creation of a new object that starts as a copy of another one.
  public static func creation<Element: Atom>(of object: Element) -> PendingChange {
    creation(of: object._row).watched(Element._schema)
  }

  /// An update of the stored object; nil if it is not stored.
  @inlinable
  public static func update<Element: Atom>(of object: Element) -> PendingChange? {
    update(object._row, Element._schema)
  }

  /// An update that sets all fields of the stored object, or its creation.
  @inlinable
  public static func upsert<Element: Atom>(of object: Element) -> PendingChange {
    upsert(object._row, Element._schema)
  }

  /// The deletion of the stored object; nil if it is not stored.
  @inlinable
  public static func deletion<Element: Atom>(of object: Element) -> PendingChange? {
    deletion(object._row, Element._schema)
  }

  /// The row that fields which were not set are read from.
  @inlinable @inline(__always)
  public var row: Row {
    guard let base else { preconditionFailure("a request for a new object has no row") }
    return base
  }

  /// An update of a stored row that was just read.
  /// - Parameters:
  ///   - row: The row.
  ///   - version: The version of the transaction when the row was read.
  ///   - fields: The fields that are set.
  ///   - refusal: Why their values cannot be stored.
  static func update(
    ofCurrent row: Row, at version: Transaction.Version, setting fields: FieldSet = .none,
    refusal: String? = nil
  ) -> PendingChange {
    PendingChange(.update, over: row, at: version, fields, refusal: refusal)
  }

  /// The creation of a new object that is a copy of a row.
  static func creation(of row: Row) -> PendingChange {
    PendingChange(.creation, over: row, refusal: row.refusal)
  }

  /// Whether any field was set.
  var isChanged: Bool { !fields.isEmpty }

  /// Whether a field was set, so that its value is the request's and not the row's.
  @inlinable @inline(__always)
  public func isSet(_ field: Int) -> Bool {
    base == nil || fields.contains(field)
  }

  /// Marks a field as set.
  @inlinable @inline(__always)
  public mutating func set(_ field: Int) {
    fields.insert(field)
    #if DEBUG
      watch?.isChanged = true
    #endif
  }

  // The rest is not generic, so that it is compiled once.

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
      return creation(of: row).watched(schema)
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
