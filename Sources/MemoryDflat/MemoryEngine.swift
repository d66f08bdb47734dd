// MemoryEngine: the committed state, and transactions that replace it.
//
//  - The committed state is a value behind a lock. Readers and snapshots copy it, which costs one
//    reference count, and never wait for the writer.
//  - A write transaction changes a copy of its own; a commit replaces the committed state with it.
//  - There are no other connections, no maintenance is needed, and indexes are always complete: the
//    engine implements none of the optional protocols.

import Dflat
import Platform

final class MemoryEngine: StorageEngine {
  let capabilities: EngineCapabilities
  fileprivate let committed = Mutex(CommittedState(state: MemoryState()))
  private let ids = Mutex<[String: RowIDs]>([:])
  private let reporter = Mutex<(@Sendable (any Error) -> Void)?>(nil)

  /// - Parameter capabilities: The capabilities that it reports. Tests remove some.
  init(_ capabilities: EngineCapabilities) { self.capabilities = capabilities }

  /// Sets the function that receives errors which cannot be thrown to a caller.
  func connect(_ report: @escaping @Sendable (any Error) -> Void) {
    reporter.withLock { $0 = report }
  }

  func report(_ error: any Error) { reporter.withLock { $0 }?(error) }

  /// The committed state.
  var state: MemoryState { committed.withLock { $0 }.state }

  // MARK: Reading

  func read<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    try body(MemorySnapshot(self))
  }

  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row? {
    let committed = committed.withLock { $0 }
    do { return try committed.state.row(of: schema, with: key, mark: mark) } catch {
      report(error)
      return nil
    }
  }

  func withRow(
    of schema: EntitySchema, with key: KeyValues, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws {
    if let row = try state.row(of: schema, with: key, mark: .none) {
      row.withBytes { body(row.id, $0) }
    }
  }

  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot { MemorySnapshot(self) }

  // MARK: Writing

  func prepareForWriting() {}

  func beginWriting() -> any StorageWriter { MemoryWriter(self) }

  func beginWritingAtOnce() -> (any StorageWriter)? { beginWriting() }

  var canWriteAtOnce: Bool { true }

  /// The row ids of a table. They continue even if the transaction that created the table was
  /// rolled back.
  fileprivate func rowIDs(of table: String) -> RowIDs {
    ids.withLock { ids in
      let known = ids[table] ?? RowIDs()
      ids[table] = known
      return known
    }
  }

  func close() {}
}

/// A committed state. Sharing it costs one reference count, however many parts it has.
private final class CommittedState: Sendable {
  let state: MemoryState

  init(state: MemoryState) { self.state = state }
}

/// A view that takes its state at the first read.
private final class MemorySnapshot: MemoryView, StorageSnapshot {
  let engine: MemoryEngine
  private(set) lazy var state = engine.state

  init(_ engine: MemoryEngine) { self.engine = engine }

  func read<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R { try body(self) }

  func close() { state = MemoryState() }
}

/// A write transaction.
private final class MemoryWriter: MemoryView, StorageWriter {
  let engine: MemoryEngine
  private(set) var state: MemoryState
  /// The state when the subtransaction began.
  private var outer: MemoryState?

  init(_ engine: MemoryEngine) { (self.engine, state) = (engine, engine.state) }

  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    try change(schema) { try $0.insert(bytes, schema, places: $1) }
  }

  func insert(_ schema: EntitySchema, keepingIDOf row: Row) throws {
    try change(schema) { try $0.insert(keepingIDOf: row, schema, places: $1) }
  }

  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws {
    try change(schema) { try $0.update(to: new, id: old.id, schema, places: $1) }
  }

  func delete(_ schema: EntitySchema, id: Int64) {
    change(schema) { table, _ in table.delete(id: id) }
  }

  private func change<R>(
    _ schema: EntitySchema, _ change: (inout MemoryTable, _ indexes: [Int]) throws -> R
  ) rethrows -> R {
    try state.change(schema, ids: engine.rowIDs, change)
  }

  func beginSubtransaction() {
    assert(engine.capabilities.canNest, "a subtransaction was begun where none is possible")
    outer = state
  }

  func endSubtransaction(keeping: Bool) {
    if !keeping, let outer { state = outer }
    outer = nil
  }

  var isAlive: Bool { true }

  func commit() { engine.committed.withLock { $0 = CommittedState(state: state) } }

  func rollback() {}
}
