// How bad a finding of a file is, and what to do about it.

import Dflat

extension CheckFinding {
  /// - Parameters:
  ///   - finding: What was found.
  ///   - isTrusted: Whether queries use the index that it is about without another look.
  ///   - meaning: How bad it is, and what to do; nil for what holds for all findings of this kind.
  init(_ finding: IntegrityFinding, isTrusted: Bool, meaning: (Severity, String)? = nil) {
    let (severity, advice) = meaning ?? Self.meaning(of: finding, isTrusted: isTrusted)
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
    case .wrongKey:
      (
        .damage,
        "set the row's key columns to the object's key by SQL; if another row has that key, delete the row that is wrong"
      )
    case .missingField: (.note, "update the object in a program, with a value for the field")
    case .damagedMark:
      (.repairable, "drop the table \(IndexMarks.table): the next transaction makes it again")
    case .damagedSchema:
      (.note, "delete the row from dflat_schemas: a program that writes adds it again")
    case .oddValue:
      (.note, "nothing is damaged: look whether the program that owns the table means it")
    case .uncheckedTable:
      (.note, "let the program that the table belongs to run 'PRAGMA integrity_check'")
    case .danglingReference: (.note, "nothing forbids it: look whether the program means it")
    case .takenName:
      (.damage, "drop what has the name, and create it again under another one if it is needed")
    case .damagedIndex:
      (
        .repairable,
        "if a program has put a table of its own there, rename it: ALTER TABLE "
          + "\((finding.table ?? "").quoted) RENAME TO …; the next transaction of the type creates "
          + "the index again, and drops what has its name"
      )
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
