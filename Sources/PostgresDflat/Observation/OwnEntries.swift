// OwnEntries: which entries of the log this workspace need not read, since its observers and its
// memory know what it has committed.
//
// That is not so for a commit whose outcome was unknown, and which turns out to be stored. So the
// workspace takes another name in the log then. Its entry may have been passed over as one of the
// old name while the outcome was looked up, so everything is read again once. What appears later
// under the old one, the commit in doubt included, is read as if another workspace had written it.

import Platform

final class OwnEntries: Sendable {
  private struct State {
    /// How many names there were before.
    var changes = 0
    var handler: (@Sendable () -> Void)?
  }

  private let workspace: String
  private let state = Mutex(State())

  /// - Parameter workspace: The name of the workspace, which no other one has.
  init(of workspace: String) { self.workspace = workspace }

  /// The name of the workspace in its entries.
  var name: String { workspace + suffix }

  /// What the last commit in doubt has added to the name; empty if there was none.
  var suffix: String {
    let changes = state.withLock { $0.changes }
    return changes == 0 ? "" : "~\(changes)"
  }

  /// Sets the function that has the log read.
  func connect(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.handler = handler }
  }

  /// Called when the outcome of a commit is unknown: when the log is read next, what was committed
  /// until now is read.
  func forget() { state.withLock { $0.changes += 1 } }

  /// Called when such a commit has turned out to be stored. The log is read now.
  func readAgain() {
    forget()
    state.withLock { $0.handler }?()
  }

  /// Called when the engine closes.
  func close() { state.withLock { $0.handler = nil } }
}
