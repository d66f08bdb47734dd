// CommitMarks: whether anything was committed to a file since the last look.
//
// The tokens of a workspace tell what other connections have committed. If the workspace itself can
// commit, too, a connection of their own sees the transactions of both.

import Dflat
import SQLiteAccess
import SQLiteDflat

/// Differs from an earlier one if anything was committed in between.
enum CommitMark: Hashable {
  case token(CommitToken)
  case version(Int64)
}

/// Gives the marks of a file. It is used by one thread.
final class CommitMarks {
  private let workspace: SQLiteWorkspace
  private let countsItsOwn: Bool
  private var watcher: Connection?

  /// - Parameter countsItsOwn: Whether the transactions of this workspace count.
  init(_ workspace: SQLiteWorkspace, countsItsOwn: Bool) {
    self.workspace = workspace
    self.countsItsOwn = countsItsOwn
  }

  /// The mark of the present state; nil if it is not known.
  func current() throws -> CommitMark? {
    if !countsItsOwn { return try workspace.commitToken().map { .token($0) } }
    if watcher == nil { watcher = try workspace.watchingConnection() }
    guard let watcher else { return nil }
    do throws(SQLiteError) { return .version(try watcher.dataVersion()) } catch {
      throw ToolError(.storage, "the file cannot be watched: \(error)")
    }
  }

  /// Closes its connection.
  func close() {
    // Nothing was written with it, so nothing can be lost.
    try? watcher?.close()
    watcher = nil
  }
}
