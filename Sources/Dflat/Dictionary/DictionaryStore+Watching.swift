// The watchers of a dictionary's keys.

extension DictionaryStore {
  /// The number of the last change that removed everything.
  var erasure: Int64 { withState { $0.erasure } }

  /// Begins to watch a key. The first notification is the value in memory.
  ///
  /// - Parameters:
  ///   - contents: The value that was read, for a key that is unknown in memory.
  ///   - erasure: The number of the last removal of everything before that read.
  func watch(
    _ key: DictionaryKey, _ watcher: DictionaryWatcher, otherwise contents: DictionaryContents,
    readAfter erasure: Int64
  ) {
    change { state in
      let read = state.erasure == erasure ? contents : .absent
      watcher.add(.initial(state.contents(of: key) ?? read))
      state.watchers[key, default: []].append(watcher)
    }
  }

  func unwatch(_ key: DictionaryKey, _ watcher: DictionaryWatcher) {
    change { state in
      state.watchers[key]?.removeAll { $0 === watcher }
      if state.watchers[key]?.isEmpty == true { state.watchers[key] = nil }
    }
  }
}
