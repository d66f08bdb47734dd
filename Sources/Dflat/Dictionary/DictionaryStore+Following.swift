// How a dictionary's memory follows what other connections have stored.
//
// This runs at a position of the deliveries of the dictionary's table, after the outcome of every
// earlier write of this workspace is known. A value that waits to be written, or is being written,
// is newer than what was read, since it is stored after it. Only transactions with the dictionary
// may end later than this: then the key is looked at again.

extension DictionaryStore {
  /// What the store has before values are read.
  struct Mark: Sendable {
    fileprivate let change: Int64
    /// The keys whose values are being written, or wait to be.
    fileprivate let busy: Set<DictionaryKey>
    /// Whether there is no value that another connection could have changed.
    let isEmpty: Bool
  }

  /// Begins to follow. Values whose reading has begun before are not remembered.
  func beginFollowing() -> Mark {
    change { state in
      state.following += 1
      return Mark(
        change: state.change,
        busy: Set(state.pending.map(\.key) + state.flying.flatMap { $0.writes.map(\.key) }),
        isEmpty: state.isErasing || state.memory.indices.isEmpty && state.watchers.isEmpty)
    }
  }

  /// The keys that have to be read.
  /// - Parameters:
  ///   - ids: The rows that may have changed; nil for all.
  ///   - found: The keys of those of them that exist.
  func keys(changedIn ids: Set<Int64>?, found: Set<DictionaryKey>, since mark: Mark)
    -> [DictionaryKey]
  {
    withState { state in
      var keys = Set(state.watchers.keys)
      if ids != nil { keys.formIntersection(found) }
      for index in state.memory.indices {
        let entry = state.memory[index]
        let isChanged =
          ids.map { ids in
            // The row of a value that a transaction has set is not known.
            entry.row >= 0 ? ids.contains(entry.row) : !entry.contents.isAbsent
          } ?? true
        if isChanged || found.contains(entry.key) { keys.insert(entry.key) }
      }
      return keys.filter { !mark.busy.contains($0) }
    }
  }

  enum Following {
    /// The value was taken over, or the store has a newer one.
    case done(DictionaryNews?)
    /// A transaction has changed the key and was not delivered yet.
    case later
  }

  /// Takes over a value that was read.
  /// - Parameters:
  ///   - row: Its row; -1 if there is none.
  ///   - mark: From before it was read.
  func follow(
    _ key: DictionaryKey, _ contents: DictionaryContents, row: Int64, since mark: Mark
  ) -> Following {
    let (following, released) = change { state -> (Following, DictionaryContents) in
      if state.drafts.contains(where: { $0.contents(of: key) != nil }) {
        return (.later, .absent)
      }
      if state.isErasing || state.erasure > mark.change { return (.done(nil), .absent) }
      let index = state.memory.findOrMake(key)
      let old = state.memory[index]
      let isNewer =
        old.change > mark.change || state.isWaiting(old)
        || state.flying.contains { $0.writes.contains { $0.key == key } }
      if isNewer { return (.done(nil), .absent) }
      if old.change >= 0, old.contents.isStored(as: contents) {
        state.memory[index].row = row
        return (.done(nil), .absent)
      }
      state.memory[index] = Entry(key: key, contents: contents, change: 0, row: row)
      return (.done(state.news(key, contents)), old.contents)
    }
    // Values of the program are released without the lock.
    withExtendedLifetime(released) {}
    return following
  }
}

extension DictionaryContents {
  /// Whether what is stored is the same value.
  fileprivate func isStored(as stored: DictionaryContents) -> Bool {
    guard case .encoded(let value) = self, case .encoded(let other) = stored else {
      return equals(stored) == true
    }
    return value.isFlatBuffers == other.isFlatBuffers && value.version == other.version
      && value.bytes == other.bytes
  }
}
