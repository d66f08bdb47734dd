// The verb repair.

import DflatTools
import Foundation
import Platform

extension ShellCommand {
  /// It does not open the file as the other verbs do, since SQLite may refuse it.
  func repair(_ arguments: Arguments) throws -> Int32 {
    guard let target = arguments.value("--output") else {
      throw UsageError(
        message: "repair writes a new file, and needs its path",
        hint: "dflat repair \(arguments.operands[0].shellWord) -o NEW")
    }
    let report = try withActivity("repair") { activity in
      try Repair.runAndWait(
        from: arguments.operands[0], to: target, schemas: arguments.all("--schema")
      ) { activity.show($0, of: nil) }
    }
    if arguments.has("--json") {
      try printJSON(report)
      return report.isComplete ? Status.good : Status.nothing
    }
    for line in report.damage { try print(TextTable.plain("damage: \(line)")) }
    for line in report.notCreated { try print(TextTable.plain("not created: \(line)")) }
    if !report.tables.isEmpty {
      var table = TextTable(["type", "whole", "recovered", "doubtful", "lost", "table"])
      for entry in report.tables {
        table.add([
          entry.name, "\(entry.whole)", "\(entry.recovered)", "\(entry.doubtful)",
          (entry.mayLackMore ? "≥ " : "") + "\(entry.lost)", entry.table,
        ])
      }
      try print(table)
    }
    for entry in report.tables where entry.lost > 0 {
      let keys = entry.lostKeys.map { $0.joined(separator: ", ") }
      if keys.isEmpty { continue }
      let more = entry.lost > keys.count ? ", and \(entry.lost - keys.count) more" : ""
      try print(TextTable.plain("lost of \(entry.name): \(keys.joined(separator: "; "))\(more)"))
    }
    try print("next: \(report.nextStep)")
    return report.isComplete ? Status.good : Status.nothing
  }
}
