// Writing the dictionary: what waits in memory goes to the disk.
//
//  - There is at most one job in the line of the dictionary's table that has not begun. It writes all that waits then, in one
//    transaction of the workspace, which shares commits with others.
//  - Batches are taken with the right to write, so they are written in the order in which they were taken.
//  - What could not be written waits again; the next set, or `synchronize`, tries it.

import Dispatch
import FlatBuffersRuntime

/// What is written together.
///
/// Unchecked: `rows` and `failure` are set by who writes, before the batch is settled.
final class DictionaryBatch: @unchecked Sendable {
  let store: DictionaryStore
  let group: CommitGroup
  let erases: Bool
  let writes: [DictionaryStore.Write]
  /// The rows of the values that were written, in the order of `writes`.
  private(set) var rows: [Int64] = []
  var failure: (any Error)?

  init(
    _ store: DictionaryStore, _ group: CommitGroup, erases: Bool, _ writes: [DictionaryStore.Write]
  ) {
    self.store = store
    self.group = group
    self.erases = erases
    self.writes = writes
  }

  func write(to writer: any StorageWriter) throws {
    if erases { try DictionaryItem.eraseAll(in: store.namespace, writer) }
    rows.reserveCapacity(writes.count)
    for write in writes {
      rows.append(
        try DictionaryItem.store(
          write.key.text, in: store.namespace, write.contents,
          row: erases ? -1 : write.row, writer))
    }
  }
}

extension DictionaryItem {
  static func eraseAll(in namespace: String, _ writer: any StorageWriter) throws {
    for row in try writer.rows(query(in: namespace), mark: .none).map({ $0 }) {
      try writer.delete(schema, id: row.id)
    }
  }

  /// Writes a value, or removes it.
  ///
  /// - Parameter known: The row that the key had when it was last seen; -1 if that is not known.
  /// - Returns: The row; -1 if there is none.
  static func store(
    _ key: String, in namespace: String, _ contents: DictionaryContents, row known: Int64,
    _ writer: any StorageWriter
  ) throws -> Int64 {
    if contents.isAbsent {
      if let id = try rowID(of: row(key, in: namespace, contents), writer) {
        try writer.delete(schema, id: id)
      }
      return -1
    }
    if known >= 0 {
      do {
        try update(row(key, in: namespace, contents, id: known), writer)
        return known
      } catch let error as StorageError where error.cause == .missing {
        // Somebody else has removed it.
      }
    }
    let new = row(key, in: namespace, contents)
    do { return try new.withBytes { try writer.insert(schema, $0) } } catch let error
      as StorageError where error.cause == .alreadyExists
    {
      guard let id = try rowID(of: new, writer) else { throw error }
      try update(row(key, in: namespace, contents, id: id), writer)
      return id
    }
  }

  /// The row that has a key; also if it is damaged.
  private static func rowID(of item: Row, _ writer: any StorageWriter) throws -> Int64? {
    do { return try writer.row(of: schema, keyOf: item)?.id } catch let error as StorageError
      where error.cause == .corruptRow
    {
      return error.rowid
    }
  }

  /// Replaces a row of the same key, so that nothing but its bytes changes.
  private static func update(_ row: Row, _ writer: any StorageWriter) throws {
    try writer.update(schema, from: row, to: row, changing: values)
  }
}

extension WorkspaceCore {
  /// Sees to it that what waits is written.
  func scheduleWriting(of store: DictionaryStore) {
    let isAccepted = enqueue([DictionaryItem.schema]) { [self] in write(store, commits: false) }
    if !isAccepted {
      store.isNotScheduled()
      report(WorkspaceError.shutDown)
    }
  }

  /// Writes what waits, as a transaction that was accepted.
  ///
  /// - Parameter commits: Whether it is committed when this returns, and everything before it.
  private func write(_ store: DictionaryStore, commits: Bool) -> Ticket.Rest {
    var turn: Committer.Turn?
    var batch: DictionaryBatch?
    var failure: (any Error)?
    if commits || store.hasPending {
      do {
        try engine.prepareForWriting()
        let taken = try committer.beginTurn { try engine.beginWriting() }
        turn = taken
        batch = store.takeBatch(for: taken.group)
        if let batch { try committer.use { try batch.write(to: taken.group.writer) } }
      } catch {
        if batch == nil { store.isNotScheduled() }
        report(error)
        failure = error
        batch?.failure = error
      }
    }
    let written = batch
    return committer.end(
      turn,
      Errand([DictionaryItem.schema], group: turn?.group, failure: failure) { [self] failure in
        if let written { store.settle(written, failure) }
        endAccepted()
      }, commits: commits)
  }

  /// Waits until everything that was set before is written; on this thread, so that it can be called anywhere.
  func synchronize(_ store: DictionaryStore) {
    if let transaction = ThreadContext.current.transaction(of: self) {
      require(
        !transaction.isWriting,
        "synchronize() was called in a changes handler that has submitted something: it would wait for itself"
      )
    }
    var isAccepted = false
    // Who was accepted before and has not ended keeps the workspace open, also after a shutdown.
    guard store.isUnwritten({ isAccepted = accept() }) else { return }
    if !isAccepted, !acceptUnlessClosed() { return report(WorkspaceError.shutDown) }
    let rest = write(store, commits: true)
    if case .delivery(let ticket) = rest { startDelivery(ticket) }
    store.settleAll(in: committer)
  }

  /// The keys that are on disk, or will be.
  func keys(of store: DictionaryStore) -> [String] {
    let before = store.difference()
    let stored =
      before.isErasing
      ? [] : readItems(DictionaryItem.query(in: store.namespace)).map(DictionaryItem.key(of:))
    let (present, absent, isErasing) = store.difference()
    var keys = Set(present)
    if !isErasing {
      for key in stored {
        let key = store.key(key)
        if !absent.contains(key) { keys.insert(key) }
      }
    }
    return keys.map(\.text)
  }

  // MARK: Reading

  /// What is stored under a key.
  @inline(__always)
  func contents(of key: DictionaryKey, in store: DictionaryStore) -> DictionaryContents {
    switch store.known(key) {
    case .contents(let contents): contents
    case .unknown(let moment): read(key, in: store, moment)
    }
  }

  /// Reads what is stored under a key, and remembers it if later reads should see it.
  @inline(never)
  private func read(
    _ key: DictionaryKey, in store: DictionaryStore, _ moment: DictionaryStore.Moment
  ) -> DictionaryContents {
    if ThreadContext.isOutside {
      guard let item = stored(key, in: store) else { return .absent }
      return store.remember(key, item.contents, row: item.row, since: moment)
    }
    let context = ThreadContext.current
    let isInSnapshot = context.snapshots[ObjectIdentifier(self)] != nil
    let isInside = context.transaction(of: self) != nil
    let isRemembered = !isInSnapshot && !transactions.isClosed
    let item = isInSnapshot || isInside ? found(key, in: store) : stored(key, in: store)
    guard let item else { return .absent }
    if !isRemembered { return item.contents }
    return store.remember(key, item.contents, row: item.row, since: moment)
  }

  /// What was read; the row is −1 if there is none.
  private struct ReadItem {
    var contents = DictionaryContents.absent
    var row: Int64 = -1
  }

  /// What is committed, in the one step that is enough for it; nil if it cannot be read.
  @inline(__always)
  private func stored(_ key: DictionaryKey, in store: DictionaryStore) -> ReadItem? {
    if transactions.isClosed { return nil }
    var item = ReadItem()
    var isKnown = true
    let isRead: Void? = unlessUnreadable {
      try engine.withRow(of: DictionaryItem.schema, with: store.keyValues(key)) { id, bytes in
        item.row = id
        let contents = TableReader(root: bytes).flatMap(DictionaryItem.contents)
        if let contents { item.contents = contents } else { isKnown = false }
      }
    }
    if isRead == nil { return nil }
    if !isKnown { report(DictionaryItem.unknownKind(of: item.row)) }
    return item
  }

  /// What the thread's snapshot or transaction sees; nil if it cannot be read.
  private func found(_ key: DictionaryKey, in store: DictionaryStore) -> ReadItem? {
    guard let rows = readItemsIfPossible(DictionaryItem.query(key.text, in: store.namespace)) else {
      return nil
    }
    var item = ReadItem()
    if let row = rows.first {
      item.row = row.id
      do { item.contents = try DictionaryItem.contents(of: row) } catch { report(error) }
    }
    return item
  }

  private func readItems(_ query: Query) -> [Row] {
    readItemsIfPossible(query) ?? []
  }

  /// Inside a snapshot what that shows, otherwise what is committed; nil if it cannot be read.
  private func readItemsIfPossible(_ query: Query) -> [Row]? {
    guard canRead else { return nil }
    let context = ThreadContext.current
    let isInside = context.transaction(of: self) != nil
    return unlessUnreadable {
      if !isInside, context.snapshots[ObjectIdentifier(self)] != nil {
        return try fetch(query).map { $0 }
      }
      return try engine.read(for: isInside ? .transaction : .query) { try $0.rows(query, mark: .none).map { $0 } }
    }
  }

  /// What `read` gives; nil if it fails, which the error hook hears.
  private func unlessUnreadable<R>(_ read: () throws -> R) -> R? {
    do { return try read() } catch let error as StorageError where error.cause == .closed {
      return nil
    } catch {
      report(error)
      return nil
    }
  }
}
