// ResultOrigin: the origin of a fetched result, which makes it observable.

import Platform

/// The query of a result, and when the result was read.
@usableFromInline package final class ResultOrigin: Sendable {
  let query: Query
  /// The workspace's clock before the read; −1 if the result may differ from what was stored.
  var timestamp: Int64 { readAt.load(ordering: .relaxed) }
  /// Changed by the fetch only, before it hands out the origin.
  private let readAt: Atomic<Int64>
  /// What the workspace marks committed rows with; see `ReadMark`.
  let workspace: UInt32

  init(_ query: Query, timestamp: Int64, workspace: UInt32) {
    self.query = query
    readAt = Atomic(timestamp)
    self.workspace = workspace
  }

  /// The origin of a committed row that was fetched by a key.
  convenience init(of row: Row, with key: KeyValues, _ schema: EntitySchema) {
    self.init(Query(schema, key), timestamp: row.timestamp, workspace: row.mark.reading)
  }

  /// Called when the read has failed.
  func markUntrusted() { readAt.store(-1, ordering: .relaxed) }
}
