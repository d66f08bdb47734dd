// Recorded changes: which rows other connections have changed, for engines that keep a record.
//
// A snapshot gives the changes between an earlier state and its own one, so that a reader sees the
// changed rows and nothing else of later transactions. What is observed then follows other
// connections without reading everything again; see `ExternalChangeFollower`.

/// Identifies a state of an engine that records changes.
package struct ChangePoint: Hashable, Sendable {
  /// The engine's own description of the state.
  package let text: String

  /// Creates a point from a description that the engine chooses.
  package init(_ text: String) { self.text = text }
}

/// The rows that other connections have changed between two states.
package struct RecordedChanges: Sendable {
  /// The changed rows of one table.
  package enum Rows: Sendable {
    /// The rows with these ids; a row that has not changed does no harm.
    case rows([Int64])
    /// Possibly any row.
    case unknown
  }

  /// The later one of the two states.
  package let point: ChangePoint
  /// The changed rows by table; nil if any row of any table may have changed.
  package let tables: [String: Rows]?

  /// Creates the changes up to a point.
  package init(to point: ChangePoint, _ tables: [String: Rows]?) {
    self.point = point
    self.tables = tables
  }
}
