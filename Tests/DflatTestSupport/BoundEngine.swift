// An engine whose write transactions are bound to a thread, as LMDB's are. They implement nothing
// of a reader but `rows`.

import Dflat
import Dispatch
import MemoryDflat
import Platform
import Testing

extension TestEngine {
  /// An engine in memory that binds each write transaction to a thread. A call on another thread
  /// fails the test.
  public static let boundMemory = TestEngine(testDescription: "memory, bound to a thread") {
    _, settings in
    Made(workspace: BoundWorkspace(settings))
  }
}

/// A workspace over such an engine.
private final class BoundWorkspace: Workspace {
  let _lifetime: WorkspaceLifetime

  init(_ settings: TestSettings) {
    let memory = MemoryWorkspace()
    let core = WorkspaceCore(
      engine: BoundEngine(memory), isSerial: settings.isSerial, targetQueue: settings.targetQueue)
    memory.errorHandler = core.reporter
    _lifetime = WorkspaceLifetime(core)
  }
}

/// The memory engine, which works on any thread, with writers that do not.
private final class BoundEngine: StorageEngine {
  let capabilities: EngineCapabilities
  /// The workspace that the engine is taken from. It closes the engine.
  private let memory: MemoryWorkspace
  private var engine: any StorageEngine { memory._lifetime.core.engine }

  init(_ memory: MemoryWorkspace) {
    self.memory = memory
    var capabilities = memory._lifetime.core.engine.capabilities
    capabilities.bindsWritersToThread = true
    self.capabilities = capabilities
  }

  func prepareForWriting() throws { try engine.prepareForWriting() }

  func read<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    try engine.read(for: purpose, body)
  }

  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row? {
    try engine.row(of: schema, with: key, mark: mark)
  }

  func withRow(
    of schema: EntitySchema, with key: KeyValues, _ body: (Int64, UnsafeRawBufferPointer) -> Void
  ) throws {
    try engine.withRow(of: schema, with: key, body)
  }

  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot {
    engine.makeSnapshot(for: purpose)
  }

  func beginWriting() throws -> any StorageWriter { BoundWriter(try engine.beginWriting()) }

  func beginWritingAtOnce() throws -> (any StorageWriter)? {
    try engine.beginWritingAtOnce().map(BoundWriter.init)
  }

  var canWriteAtOnce: Bool { engine.canWriteAtOnce }

  func close() throws { memory.shutdown() }
}

/// A write transaction of the thread that begins it.
private final class BoundWriter: StorageWriter {
  private let owner = ThreadIdentity.current
  private let base: any StorageWriter
  private var hasEnded = false

  init(_ base: any StorageWriter) { self.base = base }

  deinit {
    if !hasEnded { Issue.record("a write transaction was neither committed nor rolled back") }
  }

  /// The memory engine's writer, on the right thread.
  private var writer: any StorageWriter {
    if ThreadIdentity.current != owner {
      Issue.record("a write transaction was used on a thread that it is not bound to")
    }
    if hasEnded { Issue.record("a write transaction was used after its end") }
    return base
  }

  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    try writer.insert(schema, bytes)
  }
  func insert(_ schema: EntitySchema, keepingIDOf row: Row) throws {
    try writer.insert(schema, keepingIDOf: row)
  }
  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws {
    try writer.update(schema, from: old, to: new, changing: fields)
  }
  func delete(_ schema: EntitySchema, id: Int64) throws { try writer.delete(schema, id: id) }
  func beginSubtransaction() throws { try writer.beginSubtransaction() }
  func endSubtransaction(keeping: Bool) throws { try writer.endSubtransaction(keeping: keeping) }
  var isAlive: Bool { writer.isAlive }
  var token: CommitToken? { base.token }
  func commit() throws {
    try writer.commit()
    hasEnded = true
  }
  func rollback() {
    writer.rollback()
    hasEnded = true
  }

  // Nothing else of a reader: everything that is asked of the writer has to come from this.
  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    try writer.rows(request, mark: mark)
  }
}
