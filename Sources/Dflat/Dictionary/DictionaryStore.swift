// DictionaryStore: the in-memory state of one namespace.
//
//  - A value that was set or read once is answered from memory. Setting a value changes memory at
//    once and adds it to `pending`, which has only the last value of each key; everything that is
//    pending at one moment is written in one transaction, so the state on disk is one that existed
//    in memory.
//  - Each change has a number. A commit that is reported late changes nothing that is newer than
//    it.
//  - A value that was being read while everything was removed is not remembered.
//  - No code of the program runs under the lock: no `==` of its types, no handlers, and no `deinit`
//    of its values.

import Platform

final class DictionaryStore: Sendable {
  let namespace: String
  /// The namespace, which completes the primary key of each item.
  private let keyRest: [Value]
  private let state = Mutex(State())
  private let hash = TextHash()

  typealias Entry = DictionaryTable.Entry

  struct Write: Sendable {
    let key: DictionaryKey
    var contents: DictionaryContents
    var row: Int64
  }

  struct State: Sendable {
    var memory = DictionaryTable()
    var pending: [Write] = []
    var batch = 0
    /// Whether everything on disk must be removed before `pending` is written.
    var erases = false
    var isScheduled = false
    /// The batches that were taken to be written and are not known to be committed.
    var flying: [DictionaryBatch] = []
    var change: Int64 = 0
    /// The number of the last change that removed everything.
    var erasure: Int64 = 0
    /// How many times memory has begun to follow what other connections have stored.
    var following = 0
    var watchers: [DictionaryKey: [DictionaryWatcher]] = [:]
    /// The drafts of transactions that are written and not published.
    var drafts: [DictionaryDraft] = []

    var isErasing: Bool { erases || flying.contains { $0.erases } }
  }

  /// Calls `body` under the lock; see `State`.
  func withState<R: Sendable>(_ body: @Sendable (State) -> R) -> R { state.withLock { body($0) } }
  func change<R: Sendable>(_ body: @Sendable (inout State) -> R) -> R {
    state.withLock { body(&$0) }
  }

  init(namespace: String) {
    self.namespace = namespace
    keyRest = [.string(namespace)]
  }

  /// The key for a string, for this store.
  @inline(__always)
  func key(_ text: String) -> DictionaryKey { DictionaryKey(text, hash) }

  /// The primary key of an item.
  func keyValues(_ key: DictionaryKey) -> KeyValues {
    KeyValues(first: .string(key.text), rest: keyRest)
  }

  // MARK: Reading

  enum Known {
    case contents(DictionaryContents)
    /// The value must be read; the result is remembered as of this moment.
    case unknown(Moment)
  }

  /// A moment before a key is read, at which it was found to be unknown.
  struct Moment {
    let erasure: Int64
    let following: Int
    fileprivate let revision: Int

    fileprivate init(_ state: State) {
      erasure = state.erasure
      following = state.following
      revision = state.memory.revision
    }
  }

  /// The present moment.
  var moment: Moment { withState { Moment($0) } }

  func known(_ key: DictionaryKey) -> Known {
    state.withLock { state in
      if let index = state.memory.find(key) { return .contents(state.memory[index].contents) }
      if state.isErasing { return .contents(.absent) }
      return .unknown(Moment(state))
    }
  }

  /// Remembers a value that was read, unless memory knows a newer one, or since the key was found
  /// to be unknown everything was removed, or changes by other connections were followed, which may
  /// be later than the value.
  /// - Returns: The value that is valid now.
  func remember(
    _ key: DictionaryKey, _ contents: DictionaryContents, row: Int64, since moment: Moment
  ) -> DictionaryContents {
    state.withLock { state in
      if state.erasure != moment.erasure { return state.contents(of: key) ?? contents }
      let isUnknown = state.memory.revision == moment.revision
      if !isUnknown, let index = state.memory.find(key) { return state.memory[index].contents }
      if state.following != moment.following { return contents }
      state.memory.make(Entry(key: key, contents: contents, change: 0, row: row))
      return contents
    }
  }

  /// Replaces contents that were read by the same contents with a decoded value.
  func replace(_ key: DictionaryKey, _ old: DictionaryContents, by new: DictionaryContents) {
    let released = state.withLock { state -> DictionaryContents? in
      guard let index = state.memory.find(key) else { return nil }
      let contents = state.memory[index].contents
      guard contents.equals(old) == true else { return nil }
      state.memory[index].contents = new
      return contents
    }
    withExtendedLifetime(released) {}
  }

  // MARK: Changing

  enum Outcome {
    /// The change must be written; if `isFirst`, the caller has to schedule a writer.
    case changed(isFirst: Bool, DictionaryNews?)
    case same
    /// The comparison needs the `==` of a program's type.
    case compare(StoredBytes)
  }

  /// Sets a value, or removes the key.
  ///
  /// - Parameters:
  ///   - isWritten: Whether the value is written to the disk.
  ///   - different: The current value, if it was already found to differ.
  func set(
    _ key: DictionaryKey, _ contents: DictionaryContents, isWritten: Bool,
    different: StoredBytes? = nil
  ) -> Outcome {
    var released = DictionaryContents.absent
    defer { withExtendedLifetime(released) {} }
    return state.withLock { state in
      let next = state.change + 1
      let index = state.memory.findOrMake(key)
      let refusal = Self.change(
        &state.memory[index], to: contents, next, different, isWritten, &state.pending,
        state.batch, &released)
      if let refusal { return refusal }
      state.change = next
      var isFirst = false
      if isWritten, !state.isScheduled {
        state.isScheduled = true
        isFirst = true
      }
      if state.watchers.isEmpty { return .changed(isFirst: isFirst, nil) }
      return .changed(isFirst: isFirst, state.news(key, contents))
    }
  }

  /// Changes an entry in place.
  @inline(__always)
  private static func change(
    _ entry: inout Entry, to contents: DictionaryContents, _ number: Int64,
    _ different: StoredBytes?, _ isWritten: Bool, _ pending: inout [Write], _ batch: Int,
    _ released: inout DictionaryContents
  ) -> Outcome? {
    if entry.change >= 0 {
      switch entry.contents.equals(contents) {
      // What was read as absent may have a row that is damaged, and that is removed.
      case true? where entry.change == 0 && entry.row >= 0 && contents.isAbsent: break
      case true?: return .same
      case false?: break
      case nil:
        guard case .encoded(let present) = entry.contents else { break }
        if present !== different { return .compare(present) }
      }
    }
    released = entry.contents
    entry.contents = contents
    entry.change = number
    if isWritten { wait(&entry, &pending, batch) }
    return nil
  }

  /// Queues an entry to be written.
  @inline(__always)
  private static func wait(_ entry: inout Entry, _ pending: inout [Write], _ batch: Int) {
    if entry.batch == batch {
      pending[entry.place].contents = entry.contents
    } else {
      entry.batch = batch
      entry.place = pending.count
      pending.append(Write(key: entry.key, contents: entry.contents, row: entry.row))
    }
  }

  /// Removes everything.
  /// - Returns: Whether the caller has to schedule a writer, and the notifications for watchers.
  func removeAll() -> (isFirst: Bool, DictionaryNews) {
    var old = DictionaryTable()
    var writes: [Write] = []
    defer { withExtendedLifetime((old, writes)) {} }
    return state.withLock { state in
      swap(&old, &state.memory)
      swap(&writes, &state.pending)
      // Watched keys are known to be absent now: their watchers hear of later changes only.
      for key in state.watchers.keys { state.memory.make(Entry(key: key, change: 0)) }
      state.batch += 1
      state.change += 1
      state.erasure = state.change
      state.erases = true
      let isFirst = !state.isScheduled
      state.isScheduled = true
      return (isFirst, state.newsOfRemoval())
    }
  }

  /// The keys whose state in memory differs from the disk: those that will be on disk, and those
  /// that will not.
  /// - Parameter onlyPending: Whether only what waits to be written counts, since other connections
  ///   may have changed what was written.
  func difference(
    onlyPending: Bool = false
  ) -> (present: [DictionaryKey], absent: Set<DictionaryKey>, isErasing: Bool) {
    state.withLock { state in
      var present: [DictionaryKey] = []
      var absent: Set<DictionaryKey> = []
      for index in state.memory.indices {
        let entry = state.memory[index]
        // A value that was only read is the same on disk.
        if entry.change == 0 || onlyPending && !state.isWaiting(entry) { continue }
        if entry.contents.isAbsent { absent.insert(entry.key) } else { present.append(entry.key) }
      }
      return (present, absent, onlyPending ? state.erases : state.isErasing)
    }
  }

  // MARK: Writing

  /// Whether any change waits to be written, or is being written.
  /// - Parameter isFlying: Called under the lock if a batch was taken whose outcome is unknown.
  func isUnwritten(_ isFlying: () -> Void) -> Bool {
    state.withLock { state in
      if state.isScheduled || !state.flying.isEmpty {
        isFlying()
        return true
      }
      return state.erases || !state.pending.isEmpty
    }
  }

  /// Takes everything that is pending. Called with the right to write the tables of all types, so
  /// that batches are written in the order in which they were taken.
  func takeBatch(for group: CommitGroup) -> DictionaryBatch? {
    state.withLock { takeBatch(for: group, &$0) }
  }

  private func takeBatch(for group: CommitGroup, _ state: inout State) -> DictionaryBatch? {
    state.isScheduled = false
    if !state.erases, state.pending.isEmpty { return nil }
    let batch = DictionaryBatch(self, group, erases: state.erases, state.pending)
    state.pending = []
    state.batch += 1
    state.erases = false
    state.flying.append(batch)
    return batch
  }

  /// Notes that no writer is scheduled for the pending changes: the next `set` schedules one.
  func isNotScheduled() {
    state.withLock { $0.isScheduled = false }
  }

  var hasPending: Bool {
    state.withLock { state in
      let isThere = state.erases || !state.pending.isEmpty
      if !isThere { state.isScheduled = false }
      return isThere
    }
  }

  /// Called when the outcome of a batch is known. If it was not committed, its changes become
  /// pending again.
  func settle(_ batch: DictionaryBatch, _ failure: (any Error)?) {
    state.withLock { state in
      guard let index = state.flying.firstIndex(where: { $0 === batch }) else { return }
      state.flying.remove(at: index)
      if failure == nil {
        for (place, id) in batch.rows.enumerated() where id >= 0 {
          guard let index = state.memory.find(batch.writes[place].key) else { continue }
          state.memory[index].row = id
        }
        return
      }
      if batch.erases {
        // Everything that was written since then is written again after the removal.
        state.erases = true
        for index in state.memory.indices { state.waitAgain(index) }
      } else {
        for write in batch.writes {
          if let index = state.memory.find(write.key) { state.waitAgain(index) }
        }
      }
    }
  }

  /// Settles the batches that were taken with a commit group that is closed.
  func settleAll() {
    let flying = state.withLock { $0.flying }
    for batch in flying {
      let (isOpen, failure) = batch.group.use { (batch.group.isOpen, batch.group.failure) }
      if !isOpen { settle(batch, batch.failure ?? failure) }
    }
  }

  // MARK: Transactions

  /// Called when a transaction is about to write its changes, after everything that is pending.
  /// Values that are set from now on are newer than these changes and are written later, so memory
  /// and disk end in the same state.
  func begin(_ draft: DictionaryDraft) {
    state.withLock { state in
      state.change += 1
      draft.begin(state.change, after: takeBatch(for: draft.group, &state))
    }
  }

  /// Called when the transaction has written its changes and the pending ones.
  func add(_ draft: DictionaryDraft) {
    state.withLock { $0.drafts.append(draft) }
  }

  /// The transactions that have written, were not published yet, and are newer than the state of a
  /// key in memory. Transactions of different types are published in any order, so an older one may
  /// still be in the list.
  func drafts(of key: DictionaryKey) -> [DictionaryDraft] {
    state.withLock { state in
      let known = state.memory.find(key).map { state.memory[$0].change } ?? 0
      let newest = max(known, state.erasure)
      return state.drafts.filter { $0.change > newest }
    }
  }

  /// Called when a transaction has ended: memory takes over what it has committed, except for keys
  /// with newer changes.
  func publish(_ draft: DictionaryDraft, isCommitted: Bool) -> [DictionaryNews] {
    var released: [DictionaryContents] = []
    var removed: ContiguousArray<Entry> = []
    defer { withExtendedLifetime((released, removed)) {} }
    return state.withLock { state in
      state.drafts.removeAll { $0 === draft }
      guard isCommitted else { return [] }
      let (number, changes) = (draft.change, draft.changes)
      var news: [DictionaryNews] = []
      if draft.erases {
        state.erasure = max(state.erasure, number)
        removed = state.memory.remove { $0.change < number }
        // What could not be written before must not be written over this.
        for entry in removed where entry.change < number && entry.batch == state.batch {
          state.pending[entry.place].contents = changes[entry.key] ?? .absent
        }
        news.append(
          state.newsOfRemoval { changes[$0] == nil && state.memory.find($0) == nil })
        // Watched keys are known to be absent now: their watchers hear of later changes only.
        for key in state.watchers.keys where state.memory.find(key) == nil {
          state.memory.make(Entry(key: key, change: number))
        }
      }
      for (key, contents) in changes {
        if state.erasure > number { break }
        let index = state.memory.findOrMake(key)
        let old = state.memory[index]
        if old.change > number { continue }
        released.append(old.contents)
        state.memory[index] = Entry(key: key, contents: contents, change: number)
        if old.batch == state.batch {
          // An older value could not be written, and must not be written over this one.
          state.pending[old.place].contents = contents
          state.memory[index].place = old.place
          state.memory[index].batch = old.batch
        } else if state.erases {
          // An older removal could not be written: this is written again after it.
          state.waitAgain(index)
        }
        if old.change < 0 || old.contents.equals(contents) != true {
          news.append(state.news(key, contents))
        }
      }
      return news
    }
  }
}
