// Which servers answer queries.

extension PostgresWorkspace {
  /// Which servers answer queries.
  public enum ReadSource: Sendable, Hashable {
    /// The server that the connection string leads to.
    case sameServer
    /// The standbys among the hosts of the connection string, and the primary if none of them is
    /// there or has got far enough.
    ///
    ///     configuration.readsFrom = .standbys()
    ///     let dflat = try await PostgresWorkspace.open(
    ///       "postgresql://db1.example,db2.example,db3.example/app", configuration: configuration)
    ///
    /// Queries, counts, aggregates, `read` and `fetchWithinASnapshot` ask a standby. Transactions,
    /// streams, values of dictionaries and live results ask the primary. A query never shows less
    /// than the workspace has committed, or than it has shown by a query, a snapshot, a transaction
    /// or a live result.
    ///
    /// The client library must be libpq 14 or newer. `target_session_attrs` in the connection
    /// string has no effect.
    ///
    /// - Parameters:
    ///   - freshness: How late a state may be: what was committed on the primary this time before
    ///     is seen. The workspace asks the primary where it is twice within this time. If it cannot
    ///     be asked, queries fail. nil for no limit: then standbys also answer while there is no
    ///     primary, if they have what the workspace has committed or shown.
    ///   - patience: How long a query waits until a standby has got far enough. Then the primary
    ///     answers it, and the next ones, for a tenth of a second at first and up to five seconds
    ///     later.
    case standbys(freshness: Duration? = .seconds(5), patience: Duration = .milliseconds(50))
  }
}
