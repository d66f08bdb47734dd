// What a check of a file has found, and what to do about it.

public import Dflat

/// Something that a check of a file has found.
public struct CheckFinding: Sendable, Encodable, Equatable, CustomStringConvertible {
  /// How bad it is.
  public enum Severity: String, Sendable, Encodable, CaseIterable {
    /// Objects are damaged or lost, or queries that use an index give wrong answers.
    case damage
    /// An index is wrong. Answers are right nevertheless, and it is repaired when it is used.
    case repairable
    /// Nothing is wrong for the file; whether it is a mistake is the program's business.
    case note
  }

  /// What is wrong.
  public let what: IntegrityFinding.Kind
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

/// What a check of a file has found.
public struct CheckReport: Sendable, Encodable {
  /// What was found, the worst first.
  public let findings: [CheckFinding]
  /// Whether there may be more than the limit allowed to report.
  public let isCut: Bool
  /// The names of the types whose objects were checked.
  public let checkedTypes: [String]
  /// The tables of which no type was given. Only the form and the checksums of their objects were
  /// checked.
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
        : "give the schemas of the tables that were not checked, with --schema FILE.fbs, "
          + "or their types"
    }
  }
}

extension IntegrityFinding.Kind {
  /// An object lacks a field that the schema requires. It can be read, and stored again in a
  /// program with a value for the field. Only checks of whole files look for it.
  public static let missingField = Self(rawValue: "missingField")
  /// What the file notes about its indexes cannot be used. Only checks of whole files look for it.
  public static let damagedMark = Self(rawValue: "damagedMark")
  /// A schema that the file keeps for tools is damaged. Only checks of whole files look for it.
  public static let damagedSchema = Self(rawValue: "damagedSchema")
}

extension CheckFinding {
  /// - Parameters:
  ///   - finding: What was found.
  ///   - isTrusted: Whether queries use the index that it is about without another look.
  init(_ finding: IntegrityFinding, isTrusted: Bool) {
    let (severity, advice) = Self.meaning(of: finding, isTrusted: isTrusted)
    self.init(
      what: finding.kind, severity: severity, table: finding.table, row: finding.rowid,
      message: finding.message, advice: advice)
  }

  private static func meaning(
    of finding: IntegrityFinding, isTrusted: Bool
  ) -> (Severity, String) {
    switch finding.kind {
    case .damagedFile:
      (.damage, "save what can be read with 'dflat repair', and restore a backup")
    case .damagedRow:
      (.damage, "delete the row by its row id, and store the object again from a backup")
    case .wrongKey: (.damage, "update the object in a program, which writes its key again")
    case .missingField: (.note, "update the object in a program, with a value for the field")
    case .damagedMark:
      (.repairable, "drop the table \(IndexMarks.table): the next transaction makes it again")
    case .damagedSchema:
      (.note, "delete the row from dflat_schemas: a program that writes adds it again")
    case .danglingReference: (.note, "nothing forbids it: look whether the program means it")
    case .damagedIndex:
      (.repairable, "do nothing: the next transaction of the type creates the index again")
    case .wrongWords:
      (
        isTrusted ? .damage : .repairable,
        "drop the table of the words: the next search builds it again"
      )
    default:
      isTrusted
        ? (
          .damage,
          "drop the table \(finding.table ?? "of the index"), whose wrong values queries use: it is built again"
        ) : (.repairable, "do nothing: the next query that uses the index repairs it")
    }
  }
}
