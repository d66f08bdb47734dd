// Which workspaces of the process have the same storage, so that a row id means the same object in
// all of them.
//
// Objects may outlive their workspace, so the numbers of workspaces are kept: some bytes for each
// one that was ever opened. When all workspaces of a storage are closed, another one can take its
// place. Then, and when an engine finds another file than before, the row ids of former objects
// mean nothing: they are found by their keys.

import Platform

package enum SharedStorages {
  private struct Storage {
    let number: Int
    var users = 0
    /// The file that its engines have open; nil if that is not known.
    var file: UInt64?
  }

  private struct State {
    var count = 0
    /// The storages that are in use, by their names.
    var storages: [String: Storage] = [:]
    /// The storages of workspaces by the numbers in their marks.
    var workspaces: [UInt32: Int] = [:]
    /// The storages of which one file took another one's place while they were in use.
    var replaced: Set<Int> = []
  }

  private static let state = Mutex(State())
  /// Whether any storage was replaced.
  private static let anyReplaced = Atomic(false)

  /// Notes the storage of a new workspace.
  /// - Parameters:
  ///   - reading: The number in the marks of its rows.
  ///   - name: What names the storage in this process.
  static func begin(_ reading: UInt32, name: String) {
    state.withLock { state in
      if state.storages[name] == nil {
        state.count += 1
        state.storages[name] = Storage(number: state.count)
      }
      state.storages[name]?.users += 1
      state.workspaces[reading] = state.storages[name]?.number
    }
  }

  /// Notes that a workspace has closed its storage.
  static func end(name: String) {
    state.withLock { state in
      state.storages[name]?.users -= 1
      if state.storages[name]?.users == 0 { state.storages[name] = nil }
    }
  }

  /// Notes which file an engine has opened.
  /// - Parameters:
  ///   - file: What identifies the file.
  ///   - name: The engine's `storageName`.
  package static func opened(_ file: UInt64, name: String) {
    state.withLock { state in
      guard let storage = state.storages[name], storage.file != file else { return }
      state.storages[name]?.file = file
      if storage.file == nil { return }
      state.replaced.insert(storage.number)
      anyReplaced.store(true, ordering: .releasing)
    }
  }

  /// Whether row ids of two workspaces mean the same objects, as far as that is known.
  static func isOne(of one: UInt32, and other: UInt32) -> Bool {
    if one == other, !anyReplaced.load(ordering: .acquiring) { return true }
    return state.withLock { state in
      guard let storage = state.workspaces[one], storage == state.workspaces[other] else {
        return one == other
      }
      return !state.replaced.contains(storage)
    }
  }
}
