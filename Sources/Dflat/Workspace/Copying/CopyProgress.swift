// What a copy tells while it runs, and at its end.

/// How far a copy is.
public struct CopyProgress: Sendable, Equatable {
  /// What a copy does.
  public enum Stage: Sendable {
    /// Copies one state of the source.
    case copying
    /// Copies what has changed since.
    case catchingUp
    /// Compares the target with the source.
    case verifying
    /// Copies the last changes, while transactions of the source wait.
    case finishing
  }

  /// What it does.
  public let stage: Stage
  /// The table that it works on; nil for the dictionaries.
  public let table: String?
  /// The number of objects of the table that it has looked at in this stage.
  public let done: Int
  /// The number of objects to look at; nil if it is not known.
  public let total: Int?
}

/// What was copied.
public struct CopyReport: Sendable {
  /// The contents of each table, which were found equal in the source and the target.
  public let tables: [String: CopiedContents]
  /// The same of all dictionaries together.
  public let dictionaries: CopiedContents
  /// How often changes were copied that had been made meanwhile.
  public let passes: Int
  /// How long transactions of the source had to wait for the last changes.
  public let pause: Duration
}
