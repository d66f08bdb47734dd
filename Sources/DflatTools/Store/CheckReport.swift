// What a check of a file has found, and what to do about it.

/// Something that a check has found.
public struct CheckFinding: Sendable, Encodable {
  /// How bad it is.
  public enum Severity: String, Sendable, Encodable, CaseIterable {
    /// Objects are damaged or lost.
    case damage
    /// An index is wrong. Answers are right nevertheless, and it is repaired when it is used.
    case repairable
    /// Nothing is wrong for the file; whether it is a mistake is the program's business.
    case note
  }

  /// What is wrong: the name of an `IntegrityFinding.Kind`, or `damagedSchema`.
  public let kind: String
  /// How bad it is.
  public let severity: Severity
  /// The table concerned; nil if it is the whole file.
  public let table: String?
  /// The row concerned.
  public let row: Int64?
  /// What is wrong, in words.
  public let message: String
  /// What to do about it.
  public let advice: String
}

/// What a check of a file has found.
public struct CheckReport: Sendable, Encodable {
  /// What was found, the worst first.
  public let findings: [CheckFinding]
  /// Whether there may be more than the limit allowed to report.
  public let isCut: Bool
  /// The names of the types whose objects were checked.
  public let checkedTypes: [String]
  /// The tables whose objects were not checked, because nothing is known of their fields.
  public let uncheckedTables: [String]

  /// How bad the worst finding is; nil if there is none.
  public var worst: CheckFinding.Severity? { findings.first?.severity }

  /// The one thing to do next.
  public var nextStep: String {
    switch worst {
    case .damage: findings[0].advice
    case .repairable: "do nothing: the next query that uses the index repairs it"
    case .note, nil:
      uncheckedTables.isEmpty
        ? "do nothing: the file is sound"
        : "give the schemas of the tables that were not checked, with --schema FILE.fbs"
    }
  }
}
