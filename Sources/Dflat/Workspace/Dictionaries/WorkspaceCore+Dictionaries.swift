// Reading and writing the stored values of dictionaries.

import Dispatch
import FlatBuffersRuntime
import Platform

/// How often pending changes are written if each time another connection is in the way.
private let mostAttempts = 100

extension WorkspaceCore {
  /// Makes sure that pending changes will be written.
  func scheduleWriting(of store: DictionaryStore) {
    let isAccepted = enqueue([DictionaryItem.schema]) { [self] in
      write(store, commits: false).rest
    }
    if !isAccepted {
      store.isNotScheduled()
      report(WorkspaceError.shutDown)
    }
  }

  /// Writes the pending changes, as an accepted transaction.
  ///
  /// - Parameter commits: Whether they, and everything before them, are committed when this
  ///   returns. Then the caller retries after a conflict.
  /// - Returns: The work that remains, and why they are not committed, as far as that is known.
  private func write(
    _ store: DictionaryStore, commits: Bool
  ) -> (rest: Ticket.FollowUp, failure: (any Error)?) {
    var lease: WriteCoordinator.Lease?
    var batch: DictionaryBatch?
    var failure: (any Error)?
    if commits || store.hasPending {
      do {
        try engine.prepareForWriting()
        let taken = try coordinator.acquireLease(writingShared: true) {
          try engine.beginWriting()
        }
        lease = taken
        taken.group.slot.beginWork()
        batch = store.takeBatch(for: taken.group)
        if let batch { try taken.group.use { try batch.write(to: taken.group.writer) } }
      } catch {
        if batch == nil { store.isNotScheduled() }
        failure = error
        batch?.failure = error
        if commits, !StorageError.isConflict(error) { report(error) }
      }
    }
    let written = batch
    let errors = lease?.group.slot.endWork() ?? []
    defer { for error in errors { report(error) } }
    let member = CommitMember(
      [DictionaryItem.schema], group: lease?.group, failure: failure,
      reportedBy: commits ? .caller : .delivery
    ) { [self] failure in
      if let written { store.settle(written, failure) }
      if !commits, StorageError.isConflict(failure) { writeAgain(store) }
      endAccepted()
    }
    let rest = coordinator.end(lease, member, commits: commits)
    if failure == nil, let lease {
      failure = lease.group.use { lease.group.failure }
      if commits, let failure, !StorageError.isConflict(failure) { report(failure) }
    }
    return (rest, failure)
  }

  /// Writes the pending changes after a conflict with another connection, before a shutdown ends.
  /// Called while an operation is accepted.
  func writeAgain(_ store: DictionaryStore) {
    _ = accept()
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(.random(in: 1...20))) {
      [self] in
      writeAll(store)
      endAccepted()
    }
  }

  /// Writes everything that was set before, and commits it. After a conflict it retries. Called
  /// while an operation is accepted.
  private func writeAll(_ store: DictionaryStore) {
    let change = store.withState { $0.change }
    var pauses = RetryPauses()
    for attempt in 1...mostAttempts {
      _ = accept()
      let (rest, failure) = write(store, commits: true)
      if case .delivery(let ticket) = rest { startDelivery(ticket) }
      store.settleAll()
      if !store.withState({ $0.isUnwritten(upTo: change) }) { return }
      if let failure {
        if !StorageError.isConflict(failure) { return }
        if attempt == mostAttempts { return report(failure) }
      }
      pauses.take()
    }
  }

  /// Writes what could not be written before, at the end of a shutdown.
  func writePendingValues() {
    for store in dictionaries.all where store.hasPending { writeAll(store) }
  }

  /// Waits until everything that was set before is written. It writes on the calling thread, so it
  /// may be called on any.
  func synchronize(_ store: DictionaryStore) {
    if let transaction = ThreadContext.current.transaction(of: self) {
      require(
        !transaction.isWriting,
        "synchronize() was called in a changes handler that has submitted something: it would wait for itself"
      )
    }
    var isAccepted = false
    // A write that was accepted before and has not ended keeps the workspace open, even after a
    // shutdown.
    guard store.isUnwritten({ isAccepted = accept() }) else { return }
    if !isAccepted, !acceptUnlessClosed() { return report(WorkspaceError.shutDown) }
    // What it waits for may wait for the transaction's reads.
    ThreadContext.current.transaction(of: self)?.endSnapshot()
    writeAll(store)
    endAccepted()
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

  /// The contents of a key.
  @inline(__always)
  func contents(of key: DictionaryKey, in store: DictionaryStore) -> DictionaryContents {
    switch store.known(key) {
    case .contents(let contents): contents
    case .unknown(let moment): read(key, in: store, moment)
    }
  }

  /// The contents of a key now, also in a snapshot: what follows a key begins with them, and
  /// continues with later changes.
  func presentContents(of key: DictionaryKey, in store: DictionaryStore) -> DictionaryContents {
    switch store.known(key) {
    case .contents(let contents): return contents
    case .unknown(let moment):
      if case .snapshot = place, let item = stored(key, in: store) {
        return store.remember(key, item.contents, row: item.row, since: moment)
      }
      return read(key, in: store, moment)
    }
  }

  /// Reads the contents of a key, and remembers them if later reads should see them.
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

  /// The result of a read. The row is −1 if there is none.
  private struct ReadItem {
    var contents = DictionaryContents.absent
    var row: Int64 = -1
  }

  /// The committed contents, read in a single step, which needs no snapshot; nil if they cannot be
  /// read.
  @inline(__always)
  private func stored(_ key: DictionaryKey, in store: DictionaryStore) -> ReadItem? {
    if transactions.isClosed { return nil }
    return item { item in
      var isKnown = true
      try engine.withRow(of: DictionaryItem.schema, with: store.keyValues(key)) { id, bytes in
        item.row = id
        let contents = TableReader(root: bytes).flatMap(DictionaryItem.contents)
        if let contents { item.contents = contents } else { isKnown = false }
      }
      if !isKnown { throw DictionaryItem.unknownKind(of: item.row) }
    }
  }

  /// The contents that the thread's snapshot or transaction sees; nil if they cannot be read.
  private func found(_ key: DictionaryKey, in store: DictionaryStore) -> ReadItem? {
    let place = place
    return item { item in
      let row: Row?
      if case .snapshot = place {
        row = try fetch(DictionaryItem.query(key.text, in: store.namespace)).onlyRow()
      } else {
        let wanted = DictionaryItem.row(key.text, in: store.namespace, .int(0))
        row = try engine.read(for: .transaction) {
          try $0.row(of: DictionaryItem.schema, keyOf: wanted)
        }
      }
      guard let row else { return }
      item.row = row.id
      item.contents = try DictionaryItem.contents(of: row)
    }
  }

  /// What `read` finds; nil if it cannot be read. A damaged item is reported, and has a row and no
  /// contents.
  @inline(__always)
  private func item(_ read: (inout ReadItem) throws -> Void) -> ReadItem? {
    var item = ReadItem()
    let isRead: Void? = unlessUnreadable {
      do { try read(&item) } catch let error as StorageError where error.cause == .corruptRow {
        item = ReadItem(row: error.rowid ?? -1)
        report(error)
      }
    }
    return isRead == nil ? nil : item
  }

  private func readItems(_ query: Query) -> [Row] {
    readItemsIfPossible(query) ?? []
  }

  /// Inside a snapshot its items, otherwise the committed ones; nil if they cannot be read.
  private func readItemsIfPossible(_ query: Query) -> [Row]? {
    let purpose: ReadPurpose
    switch place {
    case .nowhere: return nil
    case .snapshot: return unlessUnreadable { try fetch(query).map { $0 } }
    case .transaction: purpose = .transaction
    case .committed: purpose = .query
    }
    return unlessUnreadable {
      try engine.read(for: purpose) { try $0.rows(.query(query), mark: .none).map { $0 } }
    }
  }

  /// The result of `read`; nil if it throws. The error is reported to the error hook.
  private func unlessUnreadable<R>(_ read: () throws -> R) -> R? {
    do { return try read() } catch let error as StorageError where error.cause == .closed {
      return nil
    } catch {
      report(error)
      return nil
    }
  }
}

extension WorkspaceCore {
  /// The contents of a key that only transactions under the write lock see.
  func draftedContents(
    of key: DictionaryKey, in draft: DictionaryDraft
  ) -> DictionaryContents? {
    if let contents = draft.contents(of: key) { return contents }
    for other in draft.store.drafts(of: key).reversed() {
      let isLost = other.group.use { other.group.failure != nil }
      if !isLost, let contents = other.contents(of: key) { return contents }
    }
    return nil
  }
}
