// Which workspaces of the process have the same storage, so that a row id means the same object in
// all of them.
//
// Objects may outlive their workspace, so the numbers of workspaces are kept: some bytes for each
// one that was ever opened.

import Platform

enum SharedStorages {
  private struct State {
    /// The numbers of storages by their names.
    var storages: [String: Int] = [:]
    /// The storages of workspaces by the numbers in their marks.
    var workspaces: [UInt32: Int] = [:]
  }

  private static let state = Mutex(State())

  /// Notes the storage of a new workspace.
  /// - Parameters:
  ///   - reading: The number in the marks of its rows.
  ///   - name: What names the storage in this process.
  static func note(_ reading: UInt32, name: String) {
    state.withLock { state in
      let storage = state.storages[name] ?? state.storages.count
      state.storages[name] = storage
      state.workspaces[reading] = storage
    }
  }

  /// Whether two workspaces have the same storage, as far as that is known.
  static func isOne(of one: UInt32, and other: UInt32) -> Bool {
    if one == other { return true }
    return state.withLock { state in
      state.workspaces[one].map { $0 == state.workspaces[other] } ?? false
    }
  }
}
