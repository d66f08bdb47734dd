// WriteContext: what `write` passes to its closure.
//
// It uses the same transaction as `performChanges`, throws the storage's own errors, and takes and
// returns values.

public import FlatBuffersRuntime

/// Changes objects inside a transaction. It is valid only inside the closure of `write`, on the
/// closure's thread.
///
/// Each change is atomic. If one throws `StorageError` with `.alreadyExists` and the closure
/// catches it, the transaction continues; any other error of the storage ends it.
public final class WriteContext {
  let transaction: Transaction
  let scope = ContextScope()
  /// Whether the closure has used a dictionary.
  var usesDictionary = false

  init(_ transaction: Transaction) {
    self.transaction = transaction
  }

  /// Begins a query for the objects of a type, in the transaction's own view.
  /// - Parameter type: One of the transaction's types.
  /// - Throws: `WorkspaceError` if the type is not in the list, or the context is used after its
  ///   closure has ended.
  public func fetch<Element: Atom>(for type: Element.Type) throws -> ThrowingQueryBuilder<Element> {
    try requireUse(of: type)
    return ThrowingQueryBuilder(builder: QueryBuilder(transaction.core), scope: scope)
  }

  /// Stores a new object.
  /// - Parameter object: Its fields.
  /// - Returns: The object as it is stored.
  /// - Throws: `StorageError`, with `.alreadyExists` if another object has its key or a unique
  ///   value; `WorkspaceError`.
  @inlinable
  @discardableResult
  public func insert<Element: Atom>(_ object: Element) throws -> Element {
    try stored(submit(Element._Draft.creationRequest(object)))
  }

  /// Changes an object, starting from its stored values.
  ///
  ///     try txn.update(post) { $0.likes += 1 }
  ///
  /// - Parameters:
  ///   - object: The object, found by its row id, or by its primary key if it was not fetched.
  ///   - change: Sets fields of the draft, which has the stored values.
  /// - Returns: The object as it is stored.
  /// - Throws: `StorageError`, with `.missing` if it is not stored; the errors of `change`;
  ///   `WorkspaceError`.
  @inlinable
  @discardableResult
  public func update<Element: Atom>(
    _ object: Element, _ change: (inout Element._Draft) throws -> Void
  ) throws -> Element {
    try requireUse(of: Element.self)
    let request = Element._Draft.changeRequest(object)
    try throwLookUpError()
    guard var request else { throw missing(object._row, Element._schema) }
    request._change.noteSubmission()
    try change(&request)
    return try stored(submit(request))
  }

  /// Stores the values of an object: it replaces the stored object if there is one, and otherwise
  /// inserts a new one.
  /// - Parameter object: The object, found by its row id, or by its primary key if it was not
  ///   fetched.
  /// - Returns: The object as it is stored.
  /// - Throws: The same errors as `insert`.
  @inlinable
  @discardableResult
  public func upsert<Element: Atom>(_ object: Element) throws -> Element {
    try requireUse(of: Element.self)
    let request = Element._Draft.upsertRequest(object)
    try throwLookUpError()
    return try stored(submit(request))
  }

  /// Deletes an object.
  /// - Parameter object: The object, found by its row id, or by its primary key if it was not
  ///   fetched.
  /// - Returns: Whether it existed.
  /// - Throws: `StorageError`; `WorkspaceError`.
  @inlinable
  @discardableResult
  public func delete<Element: Atom>(_ object: Element) throws -> Bool {
    try requireUse(of: Element.self)
    let request = Element._Draft.deletionRequest(object)
    try throwLookUpError()
    guard let request else {
      noteAbsence(of: object._row, Element._schema)
      return false
    }
    try submit(request)
    return true
  }

  /// Notes that there is to be no object with a row's key.
  @usableFromInline
  func noteAbsence(of row: DflatRow, _ schema: EntitySchema) {
    transaction.noteAbsence(of: schema.keyValues(of: row), schema)
  }

  /// Executes a change request that was made in this transaction.
  /// - Parameter request: A request that has not succeeded before.
  /// - Returns: The outcome.
  /// - Throws: The same errors as `insert`.
  @inlinable
  @discardableResult
  public func submit<Request: ChangeRequest>(
    _ request: Request
  ) throws -> UpdatedObject<Request.Element> {
    try requireUse(of: Request.Element.self)
    return UpdatedObject(
      try carryOut(&request._change, of: Request.Element._schema) { request._encode(to: $0) })
  }

  // Generic functions are inlinable, so that they are specialised for the program's types. They
  // call the functions below, which are compiled once.

  @usableFromInline
  func carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow {
    try transaction.carryOut(&change, of: schema, encode)
  }

  @usableFromInline
  func missing(_ row: Row, _ schema: EntitySchema) -> StorageError {
    StorageError(
      .missing, table: schema.table, rowid: row.id < 0 ? nil : row.id,
      key: row.read { schema.describeKey(of: $0) }, message: "there is no such object to update")
  }

  @inlinable
  func stored<Element: Atom>(_ outcome: UpdatedObject<Element>) -> Element {
    switch outcome {
    case .inserted(let object), .updated(let object), .identity(let object): object
    case .deleted: preconditionFailure("a change removed its object")
    }
  }

  /// Checks that the transaction declares types, or uses dictionaries.
  func requireTypes() throws {
    if !usesDictionary, transaction.lists(DictionaryItem.schema) { throw WorkspaceError.noTypes }
  }

  @inlinable
  func requireUse<Element: Atom>(of type: Element.Type) throws {
    if try !lists(type._schema) { throw WorkspaceError.undeclaredType("\(type)") }
  }

  /// Whether a type is one of the transaction's; throws after the closure has ended.
  @usableFromInline
  func lists(_ schema: EntitySchema) throws -> Bool {
    try scope.requireOpen()
    return transaction.lists(schema)
  }

  /// Throws if the last lookup failed. In a transaction that has failed nothing is found.
  @usableFromInline
  func throwLookUpError() throws {
    if let error = transaction.takeLookUpError() ?? transaction.failure { throw error }
  }
}
