// What a check of a whole file or database has found, and what to do about it.

/// Something that a check of a whole file or database has found.
public struct CheckFinding: Sendable, Encodable, Equatable, CustomStringConvertible {
  /// How bad it is.
  public enum Severity: String, Sendable, Encodable, CaseIterable {
    /// Objects are damaged or lost, queries that use an index give wrong answers, or transactions
    /// fail.
    case damage
    /// An index is wrong. Answers are right nevertheless, and it is repaired when it is used.
    case repairable
    /// Nothing is wrong with what is stored; whether it is a mistake is the program's business.
    case note
  }

  /// What is wrong.
  public let what: IntegrityFinding.Kind
  /// How bad it is.
  public let severity: Severity
  /// The table concerned; nil if it is the whole file or database.
  public let table: String?
  /// The row concerned.
  public let row: Int64?
  /// What is wrong, in words.
  public let message: String
  /// What to do about it.
  public let advice: String

  /// For engines.
  package init(
    what: IntegrityFinding.Kind, severity: Severity, table: String?, row: Int64?, message: String,
    advice: String
  ) {
    self.what = what
    self.severity = severity
    self.table = table
    self.row = row
    self.message = message
    self.advice = advice
  }

  /// The name of what is wrong.
  public var kind: String { what.rawValue }

  /// One line: `damage: damagedRow: table post, row 7: the checksum is not that of the bytes`.
  public var description: String {
    let finding = IntegrityFinding(what, table: table, rowid: row, message: message)
    return "\(severity.rawValue): \(finding)"
  }

  private enum CodingKeys: String, CodingKey {
    case kind, severity, table, row, message, advice
  }

  /// Encodes all of it, what is wrong as its name under `kind`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .kind)
    try container.encode(severity, forKey: .severity)
    try container.encodeIfPresent(table, forKey: .table)
    try container.encodeIfPresent(row, forKey: .row)
    try container.encode(message, forKey: .message)
    try container.encode(advice, forKey: .advice)
  }
}

/// What a check of a whole file or database has found.
public struct CheckReport: Sendable, Encodable {
  /// What was found, the worst first.
  public let findings: [CheckFinding]
  /// Whether there may be more than the limit allowed to report.
  public let isCut: Bool
  /// The names of the types whose objects were checked.
  public let checkedTypes: [String]
  /// The tables of which no type was given. Only the form of their objects was checked, and in a
  /// file their checksums.
  public let uncheckedTables: [String]
  /// Whether it is about a database on a server.
  private let isOnServer: Bool

  private enum CodingKeys: String, CodingKey {
    case findings, isCut, checkedTypes, uncheckedTables
  }

  /// For engines.
  /// - Parameter findings: They are put in order.
  package init(
    findings: [CheckFinding], isCut: Bool, checkedTypes: [String], uncheckedTables: [String],
    isOnServer: Bool = false
  ) {
    self.findings = CheckFinding.Severity.allCases.flatMap { severity in
      findings.filter { $0.severity == severity }
    }
    self.isCut = isCut
    self.checkedTypes = checkedTypes
    self.uncheckedTables = uncheckedTables
    self.isOnServer = isOnServer
  }

  /// How bad the worst finding is; nil if there is none.
  public var worst: CheckFinding.Severity? { findings.first?.severity }

  /// The one thing to do next.
  public var nextStep: String {
    switch worst {
    case .damage, .repairable: findings[0].advice
    case .note, nil:
      if !uncheckedTables.isEmpty {
        "give the schemas of the tables that were not checked, with --schema FILE.fbs, "
          + "or their types"
      } else if let noted = findings.first(where: {
        [.uncheckedTable, .damagedFile].contains($0.what)
      }) {
        noted.advice
      } else {
        "do nothing: the \(isOnServer ? "database" : "file") is sound"
      }
    }
  }
}

extension IntegrityFinding.Kind {
  /// An object lacks a field that the schema requires. It can be read, and stored again in a
  /// program with a value for the field. Only checks of everything look for it.
  public static let missingField = Self(rawValue: "missingField")
  /// What is noted about the indexes cannot be used. Only checks of everything look for it.
  public static let damagedMark = Self(rawValue: "damagedMark")
  /// A schema that is kept for tools is damaged. Only checks of everything look for it.
  public static let damagedSchema = Self(rawValue: "damagedSchema")
  /// A value is not of the type that its column declares. The program that owns the table can store
  /// such values. Only checks of everything look for it.
  public static let oddValue = Self(rawValue: "oddValue")
  /// A view, an index, or a table of another program has the name of a table that a type needs.
  public static let takenName = Self(rawValue: "takenName")
  /// The rows and indexes of a table could not be compared, because that takes a collation or a
  /// function that only its program has. Only checks of everything look for it.
  public static let uncheckedTable = Self(rawValue: "uncheckedTable")
}
