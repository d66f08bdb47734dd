// DictionaryStore: the memory of one namespace.
//
//  - What was set or read once is answered from memory. A set changes memory at once and waits in `pending` for the disk, the last
//    value of each key only; what waits at one moment is written in one transaction, so the disk holds a state that was there.
//  - Every change has a number. What is told late, after a commit, changes nothing that is younger.
//  - A value that was being read while everything was removed is not remembered.
//  - No code of the program runs under the lock: no `==` of its types, no handlers, and no `deinit` of its values.

import Platform

final class DictionaryStore: Sendable {
  let namespace: String
  /// The namespace as the rest of each item's primary key.
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
    /// Whether everything on disk is to be removed before `pending` is written.
    var erases = false
    var isScheduled = false
    /// What was taken to be written, and is not known to be committed.
    var flying: [DictionaryBatch] = []
    var change: Int64 = 0
    /// The last change that removed everything.
    var erasure: Int64 = 0
    var watchers: [DictionaryKey: [DictionaryWatcher]] = [:]
    /// What transactions have written and is not published.
    var drafts: [DictionaryDraft] = []

    var isErasing: Bool { erases || flying.contains { $0.erases } }
  }

  init(namespace: String) {
    self.namespace = namespace
    keyRest = [.string(namespace)]
  }

  /// The key of a text, for this store.
  @inline(__always)
  func key(_ text: String) -> DictionaryKey { DictionaryKey(text, hash) }

  /// The primary key of an item.
  func keyValues(_ key: DictionaryKey) -> KeyValues {
    KeyValues(first: .string(key.text), rest: keyRest)
  }

  // MARK: Reading

  enum Known {
    case contents(DictionaryContents)
    /// It has to be read; what is found is remembered as of this moment.
    case unknown(Moment)
  }

  /// When a key was not known.
  struct Moment {
    fileprivate let erasure: Int64
    fileprivate let revision: Int
  }

  func known(_ key: DictionaryKey) -> Known {
    state.withLock { state in
      if let index = state.memory.find(key) { return .contents(state.memory[index].contents) }
      if state.isErasing { return .contents(.absent) }
      return .unknown(Moment(erasure: state.erasure, revision: state.memory.revision))
    }
  }

  /// Remembers what was read, unless something newer is known, or everything was removed since it was not known.
  /// - Returns: What counts.
  func remember(
    _ key: DictionaryKey, _ contents: DictionaryContents, row: Int64, since moment: Moment
  ) -> DictionaryContents {
    state.withLock { state in
      if state.erasure != moment.erasure { return state.contents(of: key) ?? contents }
      let isUnknown = state.memory.revision == moment.revision
      if !isUnknown, let index = state.memory.find(key) { return state.memory[index].contents }
      state.memory.make(Entry(key: key, contents: contents, change: 0, row: row))
      return contents
    }
  }

  /// Puts the same contents with a decoded value in place of those that were read.
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
    /// It is to be written by somebody, who is to be called if `isFirst`.
    case changed(isFirst: Bool, DictionaryNews?)
    case same
    /// It depends on values of a program's type.
    case compare(StoredBytes)
  }

  /// Sets a value, or removes the key.
  ///
  /// - Parameters:
  ///   - isWritten: Whether it goes to the disk.
  ///   - different: What the present value was found to differ from.
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

  /// In place.
  @inline(__always)
  private static func change(
    _ entry: inout Entry, to contents: DictionaryContents, _ number: Int64,
    _ different: StoredBytes?, _ isWritten: Bool, _ pending: inout [Write], _ batch: Int,
    _ released: inout DictionaryContents
  ) -> Outcome? {
    if entry.change >= 0 {
      switch entry.contents.equals(contents) {
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

  /// Lets an entry wait to be written.
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
  /// - Returns: Whether somebody is to be called who writes it, and what watchers are told.
  func removeAll() -> (isFirst: Bool, DictionaryNews) {
    var old = DictionaryTable()
    var writes: [Write] = []
    defer { withExtendedLifetime((old, writes)) {} }
    return state.withLock { state in
      swap(&old, &state.memory)
      swap(&writes, &state.pending)
      state.batch += 1
      state.change += 1
      state.erasure = state.change
      state.erases = true
      let isFirst = !state.isScheduled
      state.isScheduled = true
      return (isFirst, state.newsOfRemoval())
    }
  }

  /// What memory says of keys: those that are to be on disk, and those that are not to be.
  func difference() -> (present: [DictionaryKey], absent: Set<DictionaryKey>, isErasing: Bool) {
    state.withLock { state in
      var present: [DictionaryKey] = []
      var absent: Set<DictionaryKey> = []
      for index in state.memory.indices {
        let entry = state.memory[index]
        // What was only read is as it is on disk.
        if entry.change == 0 { continue }
        if entry.contents.isAbsent { absent.insert(entry.key) } else { present.append(entry.key) }
      }
      return (present, absent, state.isErasing)
    }
  }

  // MARK: Writing

  /// Whether anything waits, or is being written.
  /// - Parameter isFlying: Called under the lock if somebody else was accepted who has not ended.
  func isUnwritten(_ isFlying: () -> Void) -> Bool {
    state.withLock { state in
      if state.isScheduled || !state.flying.isEmpty {
        isFlying()
        return true
      }
      return state.erases || !state.pending.isEmpty
    }
  }

  /// Takes all that waits. Called with the right to write, so that batches are written in their order.
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

  /// Nobody comes to write what waits: the next set calls again.
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

  /// It is known whether a batch is committed. If it is not, what it would have written waits again.
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
        // Whatever was written since is written again behind it.
        state.erases = true
        for index in state.memory.indices { state.waitAgain(index) }
      } else {
        for write in batch.writes {
          if let index = state.memory.find(write.key) { state.waitAgain(index) }
        }
      }
    }
  }

  /// Settles what has flown with a group that is closed.
  func settleAll(in committer: Committer) {
    let flying = state.withLock { $0.flying }
    for batch in flying {
      let (isOpen, failure) = committer.use { (batch.group.isOpen, batch.group.failure) }
      if !isOpen { settle(batch, batch.failure ?? failure) }
    }
  }

  // MARK: Transactions

  /// A transaction is about to write its changes, behind all that waits. What is set from now on is younger than they are, and is
  /// written later: so memory and the disk end with the same.
  func begin(_ draft: DictionaryDraft) {
    state.withLock { state in
      draft.batch = takeBatch(for: draft.group, &state)
      state.change += 1
      draft.change = state.change
    }
  }

  /// It has written what waited.
  func add(_ draft: DictionaryDraft) {
    state.withLock { $0.drafts.append(draft) }
  }

  /// The transactions that have written, have not been told how they ended, and are younger than what memory says of a key. Those
  /// of different types are told in any order, so an older one may still be here.
  func drafts(of key: DictionaryKey) -> [DictionaryDraft] {
    state.withLock { state in
      let known = state.memory.find(key).map { state.memory[$0].change } ?? 0
      let newest = max(known, state.erasure)
      return state.drafts.filter { $0.change > newest }
    }
  }

  /// A transaction has ended: memory follows what it has committed, but for what is younger.
  func publish(_ draft: DictionaryDraft, isCommitted: Bool) -> [DictionaryNews] {
    var released: [DictionaryContents] = []
    var removed: ContiguousArray<Entry> = []
    defer { withExtendedLifetime((released, removed)) {} }
    return state.withLock { state in
      state.drafts.removeAll { $0 === draft }
      guard isCommitted else { return [] }
      var news: [DictionaryNews] = []
      if draft.erases {
        state.erasure = max(state.erasure, draft.change)
        removed = state.memory.remove { $0.change < draft.change }
        news.append(
          state.newsOfRemoval { draft.changes[$0] == nil && state.memory.find($0) == nil })
      }
      for (key, contents) in draft.changes {
        if state.erasure > draft.change { break }
        let index = state.memory.findOrMake(key)
        let old = state.memory[index]
        if old.change > draft.change { continue }
        released.append(old.contents)
        state.memory[index] = Entry(key: key, contents: contents, change: draft.change)
        if old.change < 0 || old.contents.equals(contents) != true {
          news.append(state.news(key, contents))
        }
      }
      return news
    }
  }

  // MARK: Watching

  /// The last change that removed everything.
  var erasure: Int64 { state.withLock { $0.erasure } }

  /// Begins to watch a key, with what memory has as the first news.
  ///
  /// - Parameters:
  ///   - contents: What was read, if memory has nothing.
  ///   - erasure: The last removal of everything before that was read.
  func watch(
    _ key: DictionaryKey, _ watcher: DictionaryWatcher, otherwise contents: DictionaryContents,
    readAfter erasure: Int64
  ) {
    state.withLock { state in
      let read = state.erasure == erasure ? contents : .absent
      watcher.add(.initial(state.contents(of: key) ?? read))
      state.watchers[key, default: []].append(watcher)
    }
  }

  func unwatch(_ key: DictionaryKey, _ watcher: DictionaryWatcher) {
    state.withLock { state in
      state.watchers[key]?.removeAll { $0 === watcher }
      if state.watchers[key]?.isEmpty == true { state.watchers[key] = nil }
    }
  }
}
