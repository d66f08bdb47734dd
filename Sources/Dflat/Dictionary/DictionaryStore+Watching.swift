// The watchers of a dictionary's keys.

extension DictionaryStore {
  /// Begins to watch a key. The first notification is the value in memory.
  ///
  /// - Parameters:
  ///   - contents: The value that was read, for a key that is unknown in memory.
  ///   - moment: From before that read.
  /// - Returns: False if the key must be read again, since memory has followed other connections
  ///   meanwhile.
  func watch(
    _ key: DictionaryKey, _ watcher: DictionaryWatcher, otherwise contents: DictionaryContents,
    readSince moment: Moment
  ) -> Bool {
    change { state in
      let known = state.contents(of: key)
      if known == nil, state.following != moment.following { return false }
      let read = state.erasure == moment.erasure ? contents : .absent
      watcher.add(.initial(known ?? read))
      state.watchers[key, default: []].append(watcher)
      return true
    }
  }

  func unwatch(_ key: DictionaryKey, _ watcher: DictionaryWatcher) {
    change { state in
      state.watchers[key]?.removeAll { $0 === watcher }
      if state.watchers[key]?.isEmpty == true { state.watchers[key] = nil }
    }
  }
}
