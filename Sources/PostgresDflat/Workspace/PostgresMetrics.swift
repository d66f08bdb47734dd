// PostgresMetrics: numbers about a workspace, for what observes a service.

/// Numbers about a workspace at one moment; see ``PostgresWorkspace/metrics()``.
///
/// Counts begin at zero with the workspace and only grow.
public struct PostgresMetrics: Sendable {
  /// The write transactions that were committed on the server. Those that share a commit are one.
  public internal(set) var commits = 0
  /// The time that these commits took, from the call to the server's answer.
  public internal(set) var commitTime = Duration.zero
  /// The write transactions that have begun on the server: the runs of closures that write.
  public internal(set) var attempts = 0
  /// How many of these had precedence, since they had lost several times.
  public internal(set) var attemptsWithPrecedence = 0
  /// The write transactions that the server has refused because of others.
  public internal(set) var conflicts = 0
  /// The queries and snapshots that the primary has answered, or the one server that there is.
  public internal(set) var primaryReads = 0
  /// The queries and snapshots that standbys have answered.
  public internal(set) var standbyReads = 0
  /// The commits whose answers were lost for good.
  public internal(set) var unknownOutcomes = 0
  /// The connections that were made.
  public internal(set) var connectionsMade = 0
  /// The connections that are open.
  public internal(set) var connections = 0
  /// How many of these are idle in the pool of those that read.
  public internal(set) var idleConnections = 0
  /// The calls that have waited for a connection.
  public internal(set) var connectionWaits = 0
  /// The time that they have waited.
  public internal(set) var connectionWaitTime = Duration.zero
  /// Whether the workspace follows the commits of others; false without a subscription, too.
  public internal(set) var isListening = false
  /// How long before it was read the oldest of the changes had begun that were followed last; nil
  /// before the first one.
  public internal(set) var lag: Duration?
  /// The entries of the log of changes; nil if the server cannot be asked.
  public internal(set) var logLength: Int?
  /// The columns of indexes that are not complete; nil if the server cannot be asked.
  public internal(set) var incompleteIndexes: [IncompleteIndex]?

  /// A column of an index that is being filled, or that no query has used yet.
  public struct IncompleteIndex: Sendable, Hashable {
    /// The table of its type.
    public let table: String
    /// The column.
    public let column: String
    /// How many row ids are covered, of ``total``.
    public let covered: Int
    /// The greatest row id.
    public let total: Int
  }

  /// The metrics as text that Prometheus reads, each name beginning with `dflat_`.
  ///
  ///     # TYPE dflat_commits_total counter
  ///     dflat_commits_total{service="web"} 1027
  ///
  /// - Parameter labels: Labels for all metrics.
  /// - Returns: Lines in the exposition format 0.0.4. Durations are seconds. What is not known is
  ///   left out.
  public func prometheusText(labels: [String: String] = [:]) -> String {
    var text = PrometheusText(labels)
    text.add("commits_total", "counter", Double(commits))
    text.add("commit_seconds_total", "counter", commitTime.inSeconds)
    text.add("attempts_total", "counter", Double(attempts))
    text.add("attempts_with_precedence_total", "counter", Double(attemptsWithPrecedence))
    text.add("conflicts_total", "counter", Double(conflicts))
    text.add("primary_reads_total", "counter", Double(primaryReads))
    text.add("standby_reads_total", "counter", Double(standbyReads))
    text.add("unknown_outcomes_total", "counter", Double(unknownOutcomes))
    text.add("connections_made_total", "counter", Double(connectionsMade))
    text.add("connections", "gauge", Double(connections))
    text.add("idle_connections", "gauge", Double(idleConnections))
    text.add("connection_waits_total", "counter", Double(connectionWaits))
    text.add("connection_wait_seconds_total", "counter", connectionWaitTime.inSeconds)
    text.add("listening", "gauge", isListening ? 1 : 0)
    if let lag { text.add("lag_seconds", "gauge", lag.inSeconds) }
    if let logLength { text.add("log_entries", "gauge", Double(logLength)) }
    if let incompleteIndexes {
      text.add("incomplete_index_columns", "gauge", Double(incompleteIndexes.count))
      for (place, index) in incompleteIndexes.enumerated() {
        text.add(
          "index_covered_ratio", "gauge",
          index.total == 0 ? 1 : Double(index.covered) / Double(index.total),
          ["table": index.table, "column": index.column], isFirst: place == 0)
      }
    }
    return text.lines
  }
}

/// Lines in the format of Prometheus.
private struct PrometheusText {
  private let labels: [String: String]
  private(set) var lines = ""

  init(_ labels: [String: String]) { self.labels = labels }

  /// - Parameter isFirst: Whether no line of the same name is before it.
  mutating func add(
    _ name: String, _ type: String, _ value: Double, _ own: [String: String] = [:],
    isFirst: Bool = true
  ) {
    if isFirst { lines += "# TYPE dflat_\(name) \(type)\n" }
    let all = labels.merging(own) { $1 }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
    let isWhole = value == value.rounded() && abs(value) < 1e15
    lines += "dflat_\(name)\(all.isEmpty ? "" : "{\(all.joined(separator: ","))}") "
    lines += "\(isWhole ? "\(Int(value))" : "\(value)")\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

extension Duration {
  fileprivate var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
