// ResultOrigin: where a fetched result comes from, so that it can be observed.

/// The query of a result, and when it was read.
///
/// Unchecked: `timestamp` is changed by the fetch only, before anybody else has the origin.
public final class ResultOrigin: @unchecked Sendable {
  let query: Query
  /// The workspace's clock before the reading; −1 if the result is not known to be what was stored.
  private(set) var timestamp: Int64
  /// The number of the workspace.
  let workspace: UInt64

  init(_ query: Query, timestamp: Int64, workspace: UInt64) {
    self.query = query
    self.timestamp = timestamp
    self.workspace = workspace
  }

  /// The reading failed.
  func distrust() { timestamp = -1 }
}
