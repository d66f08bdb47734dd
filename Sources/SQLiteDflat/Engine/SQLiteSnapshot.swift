// SQLiteSnapshot: one state of the data that stays readable until the snapshot is closed.

import Dflat
import SQLiteAccess

/// Takes its state at the first read. It keeps a reader until it is closed.
final class SQLiteSnapshot: StorageSnapshot {
  private let engine: SQLiteEngine
  private let purpose: ReadPurpose
  private var lease: ReaderLease?
  private var view: PinnedView?
  /// Whether the file did not exist at the first read; it then never exists for this snapshot.
  private var isEmpty = false

  init(_ engine: SQLiteEngine, _ purpose: ReadPurpose) {
    self.engine = engine
    self.purpose = purpose
  }

  func read<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R {
    guard let view = try open() else {
      return try body(MissingFileView())
    }
    let result = Result { try SQLiteEngine.cancellable(view.connection) { try body(view) } }
    // The file was read without locks and has changed: the snapshot no longer sees a single state.
    if view.connection.hasChangedPages { throw engine.changedFile }
    return try result.get()
  }

  func close() {
    guard let view else { return }
    self.view = nil
    engine.session.snapshots.remove(self)
    // If the read transaction cannot be ended, its connection is closed anyway.
    try? view.connection.rollback()
    lease?.end()
  }

  /// The view; nil as long as there is no file.
  private func open() throws -> SQLiteView? {
    if isEmpty { return nil }
    if let view { return view }
    return try withStorageErrors {
      do {
        try engine.openForReading()
        // Its owner may wait for another snapshot: none waits for a reader.
        let lease = try engine.readers.checkout(beyondLimit: true)
        if [.query, .iteration, .copying].contains(purpose) {
          engine.session.enterWALMode(before: lease.connection)
        }
        // An earlier generation is as right as the current one and needs no query. At worst,
        // something is verified again in this state.
        let generation = engine.externalChanges.lastGeneration
        try lease.connection.begin(.deferred)
        self.lease = lease
        let view = PinnedView(engine, lease.connection, generation)
        self.view = view
        engine.session.snapshots.add(self, isTransaction: purpose == .transaction)
        return view
      } catch let error as SQLiteError where error.isNoSuchFile && !engine.configuration.isReadOnly
      {
        isEmpty = true
        return nil
      }
    }
  }
}

/// Reads in a state that was pinned before.
private final class PinnedView: SQLiteView {
  private let generation: Int

  init(_ engine: SQLiteEngine, _ connection: Connection, _ generation: Int) {
    self.generation = generation
    super.init(engine, connection)
  }

  override func generationBeforeState() -> Int { generation }
}
