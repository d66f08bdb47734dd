// Transaction: one run of a changes handler.
//
// It keeps true:
//
//  - it takes the storage's write lock with its first submit, and not before; a group that it runs behind may have it already;
//  - `version` counts the writes, so a row that was looked up at one version is current as long as the version is the same;
//  - rows that the transaction fetches carry the number of its reading: they are current until the transaction itself changes
//    them, since nobody else writes their type meanwhile. If another connection has written between a fetch and the lock, the
//    reading gets a new number, and what was fetched before is looked up again;
//  - a refused request leaves nothing behind; any other failure ends the transaction.

import FlatBuffersRuntime
import Synchronization

final class Transaction: TransactionContext {
  let workspace: WorkspaceCore
  private let schemas: Set<EntitySchema>
  /// The clock at the beginning.
  private let timestamp: Int64
  private let group: CommitGroup
  /// The storage's transaction, once this one writes into it.
  private var writer: (any StorageWriter)?
  private var hasSavepoint = false
  /// The types that were changed, with the rows that were updated or deleted.
  private var changed: [ObjectIdentifier: RowIDSet] = [:]
  /// The type that was used last, and what was changed of it: most transactions change one.
  private var latest: EntitySchema?
  private var latestRows: RowIDSet?
  private var reading = Transaction.newReading()
  /// Whether something was fetched before the lock was taken, and what was known of others' writes before.
  private var fetchedUnlocked: (Bool, generation: Int?) = (false, nil)
  private(set) var isAborted = false
  private(set) var version: Version

  /// How many writes a transaction has made; 0 as long as the lock is not taken.
  struct Version: Equatable {
    let transaction: UInt32
    var count: Int
  }
  /// False once the handler has returned.
  private var isOpen = true

  init(_ workspace: WorkspaceCore, _ schemas: Set<EntitySchema>, _ group: CommitGroup) {
    self.workspace = workspace
    self.schemas = schemas
    self.group = group
    version = Version(transaction: reading, count: group.writer == nil ? 0 : 1)
    timestamp = workspace.clock.now
  }

  /// The transaction whose handler runs on this thread.
  static func current(for call: String) -> Transaction {
    guard let transaction = ThreadContext.current.transaction else {
      misuse(
        "\(call) was called outside of a transaction: call it in a changes handler")
    }
    return transaction
  }

  private static let readings = Atomic<UInt32>(0)

  private static func newReading() -> UInt32 {
    let (_, number) = readings.add(1, ordering: .relaxed)
    return number == 0 ? newReading() : number
  }

  // MARK: Reading

  /// The stored row of an object: by row id if it has one, otherwise by primary key.
  func lookUp(
    _ row: Row, _ schema: EntitySchema, for call: String, acceptsDamaged: Bool = false
  ) -> Row? {
    requireListed(schema, for: call)
    if isCurrent(row, schema) { return row }
    if isAborted { return nil }
    do {
      return try withReader { reader in
        row.id >= 0
          ? try reader.row(of: schema, id: row.id) : try reader.row(of: schema, keyOf: row)
      }
    } catch {
      workspace.report(error)
      // A damaged row can still be removed, by its id.
      if acceptsDamaged, row.id >= 0, (error as? StorageError)?.cause == .corruptRow { return row }
      return nil
    }
  }

  func fetch(_ query: Query) throws -> RowBuffer {
    requireListed(query.schema, for: "fetch(for:)")
    if group.writer == nil, !fetchedUnlocked.0 {
      fetchedUnlocked = (true, try workspace.engine.foreignGeneration())
    }
    let mark = ReadMark(
      timestamp: changedRows(of: query.schema) == nil ? timestamp : 0, reading: reading)
    return try withReader { try $0.rows(query, mark: mark) }
  }

  /// Whether a row is what is stored, because this transaction has fetched it and not changed it since.
  private func isCurrent(_ row: Row, _ schema: EntitySchema) -> Bool {
    row.mark == ReadMark(timestamp: timestamp, reading: reading)
      && changedRows(of: schema)?.contains(row.id) != true
  }

  /// What was changed of a type; nil if nothing was.
  private func changedRows(of schema: EntitySchema) -> RowIDSet? {
    schema === latest ? latestRows : changed[ObjectIdentifier(schema)]
  }

  /// Remembers that a type was changed; the row, if it was there before.
  private func markChanged(_ schema: EntitySchema, _ id: Int64? = nil) {
    if schema !== latest {
      if let latest { changed[ObjectIdentifier(latest)] = latestRows }
      latestRows = changed[ObjectIdentifier(schema)]
      latest = schema
    }
    if latestRows == nil { latestRows = RowIDSet() }
    if let id { latestRows?.insert(id) }
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    try withReader { try $0.explain(query) }
  }

  private func withReader<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R {
    // What stands before it in the line may not be committed yet: the writer sees it.
    if let writer = group.writer {
      // Some errors of reading make the storage give up everything that is not committed.
      defer { if !writer.isAlive { isAborted = true } }
      return try body(writer)
    }
    return try workspace.engine.read(isUrgent: true, body)
  }

  // MARK: Writing

  func _carryOut(
    _ change: PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow {
    requireListed(schema, for: "submit(_:)")
    require(isOpen, "submit(_:) was called after the changes handler had returned")
    if isAborted { throw TransactionError.aborted }
    switch change.kind {
    case .spent:
      misuse("submit(_:) was called again with a request that had succeeded")
    case .creation:
      return .inserted(try insert(schema, encode))
    case .update(let stored, let version):
      let (row, isChanged) = try update(stored, version, schema, encode)
      return isChanged ? .updated(row) : .identity(row)
    case .deletion(let stored):
      try delete(stored, schema)
      return .deleted(stored.id)
    }
  }

  func abort() -> Bool {
    if isAborted || !isOpen { return false }
    isAborted = true
    return true
  }

  private func insert(
    _ schema: EntitySchema, _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> Row {
    try write(schema) { writer, builder in
      builder.finish(encode(builder))
      try refuseUnreadable(builder.bytes, schema)
      let id = try writer.insert(schema, builder.bytes)
      markChanged(schema)
      return Row(sound: builder.bytes, id: id)
    }
  }

  private func update(
    _ known: Row, _ knownVersion: Version, _ schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> (row: Row, isChanged: Bool) {
    try write(schema) { writer, builder in
      let isKnown = (knownVersion == version && version.count > 0) || isCurrent(known, schema)
      guard let stored = isKnown ? known : try writer.row(of: schema, id: known.id) else {
        throw StorageError(
          .missing, table: schema.table, rowid: known.id,
          message: "the object was deleted after its change request was made")
      }
      if knownVersion.count == 0, !isKnown { try refuseStale(stored, known, schema) }
      builder.finish(encode(builder))
      try refuseUnreadable(builder.bytes, schema)
      let row = Row(sound: builder.bytes, id: stored.id)
      if row.equals(stored, as: schema.layout) { return (stored.withoutMark(), false) }
      try writer.update(schema, from: stored, to: row)
      markChanged(schema, stored.id)
      return (row, true)
    }
  }

  /// What could not be read again must not be stored.
  private func refuseUnreadable(_ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema) throws {
    do { try schema.layout.verify(bytes) } catch {
      throw StorageError(
        .other, table: schema.table,
        message: "the object cannot be stored, it could not be read again: \(error.reason)")
    }
  }

  /// A request that was made before the lock was taken carries what was stored then. If another connection has changed the
  /// object since, its change would be lost.
  private func refuseStale(_ stored: Row, _ known: Row, _ schema: EntitySchema) throws {
    if changedRows(of: schema)?.contains(stored.id) == true { return }
    if !stored.equals(known, as: schema.layout) {
      throw StorageError(
        .busy, table: schema.table, rowid: stored.id,
        message: "another connection changed the object after its change request was made")
    }
  }

  private func delete(_ known: Row, _ schema: EntitySchema) throws {
    try write(schema) { writer, _ in
      try writer.delete(schema, id: known.id)
      markChanged(schema, known.id)
    }
  }

  /// Runs one write. A conflict leaves the transaction as it was; any other error ends it.
  private func write<R>(
    _ schema: EntitySchema, _ body: (any StorageWriter, FlatBufferBuilder) throws -> R
  ) throws -> R {
    do {
      let writer = try openWriter()
      defer { group.builder.reset() }
      let result = try body(writer, group.builder)
      version.count += 1
      return result
    } catch let error as StorageError where error.cause == .alreadyExists {
      throw TransactionError.objectAlreadyExists
    } catch {
      workspace.report(error)
      isAborted = true
      throw (error as? StorageError)?.cause == .diskFull
        ? TransactionError.diskFull : TransactionError.others
    }
  }

  private func openWriter() throws -> any StorageWriter {
    if let writer { return writer }
    let wasLocked = group.writer != nil
    let opened = try group.open(for: schemas) { try workspace.engine.beginWriting(schemas) }
    writer = opened.writer
    hasSavepoint = opened.hasSavepoint
    if wasLocked { return opened.writer }
    // What was read before the lock was taken may have changed since.
    version.count += 1
    let now = try workspace.engine.foreignGeneration()
    if fetchedUnlocked.0, now == nil || now != fetchedUnlocked.generation {
      reading = Transaction.newReading()
    }
    return opened.writer
  }

  // MARK: The end

  /// Ends its part of the group's transaction.
  /// - Returns: Whether it is good, if the group's commit is.
  func finish() -> Bool {
    isOpen = false
    if let writer = group.writer, !writer.isAlive {
      group.lose()
      return false
    }
    guard writer != nil else { return !isAborted }
    self.writer = nil
    do {
      try group.close(hasSavepoint: hasSavepoint, isAborted: isAborted)
    } catch {
      workspace.report(error)
      group.lose()
      return false
    }
    return !isAborted
  }

  private func requireListed(_ schema: EntitySchema, for call: String) {
    require(
      schema === latest || schemas.contains(schema),
      "\(call): \(schema.layout.name) is not in the transaction's list of types")
  }
}
