// PostgresEvent: what happens in a workspace, for logs and metrics.

/// What happens in a workspace on a server: for logs, and for what observes a service.
///
/// ``PostgresWorkspace/Configuration/onEvent`` receives all of them, and so does each stream of
/// ``PostgresWorkspace/events(buffering:)``. Its description is one line for a log. Later versions may have
/// more cases: a `switch` needs `default`.
public enum PostgresEvent: Sendable, CustomStringConvertible {
  /// What a connection is for.
  public enum Purpose: String, Sendable {
    case reading, writing, layout, listening
    /// Reading from a standby.
    case standby
  }

  /// A connection was made.
  case connected(Purpose)
  /// How many of the server's connections the workspace may need, when it is opened: at most this
  /// number if `isLimited`, and otherwise one more for each open snapshot.
  case opened(connections: Int, isLimited: Bool, serverLimit: Int)
  /// A write transaction has begun on the server. Each run of a closure that writes is one, and
  /// transactions that share a commit are one.
  case began(hasPrecedence: Bool)
  /// A write transaction was committed, in this time from the call to the server's answer.
  case committed(Duration)
  /// The server has refused a write transaction because of others, with this message.
  case conflict(String)
  /// The answer to a commit was lost, and it is not known whether it is stored.
  case outcomeUnknown
  /// A call has waited for a connection: as many as are allowed were in use.
  case waitedForConnection(Duration)
  /// The workspace follows the commits of others.
  case listening
  /// It does not for now, and tries again.
  case stoppedListening
  /// Commits of others were read; the oldest transaction had begun this time before.
  case followed(entries: Int, lag: Duration)

  /// One line for a log.
  public var description: String {
    switch self {
    case .connected(let purpose): "connected for \(purpose)"
    case .opened(let count, let isLimited, let limit):
      "opened: it may need \(count) connections"
        + (isLimited ? "" : " and one for each open snapshot")
        + "; the server allows \(limit) to all programs together"
    case .began(let hasPrecedence):
      "a transaction has begun" + (hasPrecedence ? ", and others wait for it" : "")
    case .committed(let time): "committed in \(time)"
    case .conflict(let message): "a transaction was refused: \(message)"
    case .outcomeUnknown: "the answer to a commit was lost, and its outcome is not known"
    case .waitedForConnection(let time): "a call has waited for a connection for \(time)"
    case .listening: "following the commits of others"
    case .stoppedListening: "not following the commits of others"
    case .followed(let entries, let lag): "\(entries) changes of others were read after \(lag)"
    }
  }
}
