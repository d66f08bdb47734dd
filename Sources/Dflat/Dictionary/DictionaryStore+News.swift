// What a change of a dictionary means for the watchers of its keys, and for the values that wait to
// be written.

/// The watchers to notify once the store's lock is released.
struct DictionaryNews {
  let watchers: [DictionaryWatcher]

  func deliver() {
    for watcher in watchers { watcher.deliver() }
  }
}

extension DictionaryStore.State {
  /// The contents of a key in memory; nil if memory does not know the key.
  func contents(of key: DictionaryKey) -> DictionaryContents? {
    memory.find(key).map { memory[$0].contents }
  }

  /// See `DictionaryStore.pendingContents(of:)`.
  func pendingContents(of key: DictionaryKey) -> DictionaryContents? {
    if let index = memory.find(key), isWaiting(memory[index]) { return memory[index].contents }
    return erases ? .absent : nil
  }

  /// Whether one of the changes up to a number waits to be written, or is being written.
  func isUnwritten(upTo change: Int64) -> Bool {
    func isOld(_ write: DictionaryStore.Write) -> Bool {
      memory.find(write.key).map { memory[$0].change <= change } ?? false
    }
    return isErasing && erasure <= change || pending.contains(where: isOld)
      || flying.contains { $0.writes.contains(where: isOld) }
  }

  /// Whether an entry is newer than what is stored: it waits to be written, or failed to be, or
  /// cannot be encoded.
  func isWaiting(_ entry: DictionaryTable.Entry) -> Bool {
    if entry.batch == batch { return true }
    if case .encoded(let value) = entry.contents, value.bytes == nil { return true }
    return flying.contains { flying in
      flying.failure != nil && flying.writes.contains { $0.key == entry.key }
    }
  }

  func news(
    _ key: DictionaryKey, _ contents: DictionaryContents
  ) -> DictionaryNews {
    let watchers = watchers[key] ?? []
    for watcher in watchers { watcher.add(.changed(contents)) }
    return DictionaryNews(watchers: watchers)
  }

  /// The notifications of a removal of everything, for all watchers of all keys.
  /// - Parameter isRemoved: Whether a key is removed.
  func newsOfRemoval(
    of isRemoved: (DictionaryKey) -> Bool = { _ in true }
  ) -> DictionaryNews {
    let told = watchers.filter { isRemoved($0.key) }.flatMap(\.value)
    for watcher in told { watcher.add(.changed(.absent)) }
    return DictionaryNews(watchers: told)
  }

  /// Queues the current value of an entry to be written again.
  mutating func waitAgain(_ index: Int) {
    let entry = memory[index]
    guard entry.batch != batch, entry.change > 0 else { return }
    if case .encoded(let value) = entry.contents, value.bytes == nil { return }
    memory[index].batch = batch
    memory[index].place = pending.count
    pending.append(DictionaryStore.Write(key: entry.key, contents: entry.contents, row: -1))
  }
}

extension DictionaryStore {
  /// The contents of a key that waits to be written, or that memory alone has; nil if what is
  /// stored counts.
  func pendingContents(of key: DictionaryKey) -> DictionaryContents? {
    withState { $0.pendingContents(of: key) }
  }

  /// What waits to be written, or is being written. A value that cannot be encoded is not among it.
  var unstored: Unstored {
    withState { state in
      var unstored = Unstored()
      func add(_ erases: Bool, _ writes: [Write]) {
        if erases { unstored = Unstored(erases: true) }
        for write in writes { unstored.contents[write.key] = write.contents }
      }
      for batch in state.flying { add(batch.erases, batch.writes) }
      add(state.erases, state.pending)
      return unstored
    }
  }

  struct Unstored: Sendable {
    /// Whether everything that is stored is removed first.
    var erases = false
    var contents: [DictionaryKey: DictionaryContents] = [:]
  }
}
