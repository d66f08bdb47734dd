// ResultOrigin: the origin of a fetched result, which makes it observable.

/// The query of a result, and when the result was read.
///
/// Unchecked: only the fetch changes `timestamp`, before it hands out the origin.
public final class ResultOrigin: @unchecked Sendable {
  let query: Query
  /// The workspace's clock before the read; −1 if the result may differ from what was stored.
  private(set) var timestamp: Int64
  /// The number of the workspace.
  let workspace: UInt64

  init(_ query: Query, timestamp: Int64, workspace: UInt64) {
    self.query = query
    self.timestamp = timestamp
    self.workspace = workspace
  }

  /// Called when the read has failed.
  func markUntrusted() { timestamp = -1 }
}
