// What a change of a dictionary means for the watchers of its keys, and for the values that wait to be written.

/// The watchers to notify once the store's lock is released.
struct DictionaryNews {
  let watchers: [DictionaryWatcher]

  func deliver() {
    for watcher in watchers { watcher.deliver() }
  }
}

extension DictionaryStore.State {
  /// What memory says of a key; nil if it is not known.
  func contents(of key: DictionaryKey) -> DictionaryContents? {
    memory.find(key).map { memory[$0].contents }
  }

  func news(
    _ key: DictionaryKey, _ contents: DictionaryContents
  ) -> DictionaryNews {
    let watchers = watchers[key] ?? []
    for watcher in watchers { watcher.add(.changed(contents)) }
    return DictionaryNews(watchers: watchers)
  }

  /// All watchers of all keys hear of a removal.
  /// - Parameter isRemoved: Whether a key is among them.
  func newsOfRemoval(
    of isRemoved: (DictionaryKey) -> Bool = { _ in true }
  ) -> DictionaryNews {
    let told = watchers.filter { isRemoved($0.key) }.flatMap(\.value)
    for watcher in told { watcher.add(.changed(.absent)) }
    return DictionaryNews(watchers: told)
  }

  /// The value that memory has now waits to be written.
  mutating func waitAgain(_ index: Int) {
    let entry = memory[index]
    guard entry.batch != batch, entry.change > 0 else { return }
    if case .encoded(let value) = entry.contents, value.bytes == nil { return }
    memory[index].batch = batch
    memory[index].place = pending.count
    pending.append(DictionaryStore.Write(key: entry.key, contents: entry.contents, row: -1))
  }
}
