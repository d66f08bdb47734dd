// ResultOrigin: the origin of a fetched result, which makes it observable.

import Platform

/// The query of a result, and when the result was read.
public final class ResultOrigin: Sendable {
  let query: Query
  /// The workspace's clock before the read; −1 if the result may differ from what was stored.
  var timestamp: Int64 { readAt.load(ordering: .relaxed) }
  /// Changed by the fetch only, before it hands out the origin.
  private let readAt: Atomic<Int64>
  /// The number of the workspace.
  let workspace: UInt64

  init(_ query: Query, timestamp: Int64, workspace: UInt64) {
    self.query = query
    readAt = Atomic(timestamp)
    self.workspace = workspace
  }

  /// Called when the read has failed.
  func markUntrusted() { readAt.store(-1, ordering: .relaxed) }
}
