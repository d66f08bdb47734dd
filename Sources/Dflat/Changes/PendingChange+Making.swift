// How pending changes are made: creations of values, and updates and deletions of rows that the
// current transaction looks up.

extension PendingChange {
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

  /// An update of a stored row that was just read.
  /// - Parameters:
  ///   - row: The row.
  ///   - version: The version of the transaction when the row was read.
  ///   - fields: The fields that are set.
  ///   - refusal: Why their values cannot be stored.
  static func update(
    ofCurrent row: Row, at version: TransactionVersion, setting fields: FieldSet = .none,
    refusal: String? = nil
  ) -> PendingChange {
    PendingChange(.update, over: row, at: version, fields, refusal: refusal)
  }

  /// The creation of a new object that is a copy of a row.
  static func creation(of row: Row) -> PendingChange {
    PendingChange(.creation, over: row, refusal: row.refusal)
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
    return stored.map { PendingChange(.deletion, over: $0, at: transaction.version) }
  }
}
