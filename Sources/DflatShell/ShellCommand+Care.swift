// The verbs about whole files: check, stats, backup, diff.

import DflatServerTools
import DflatTools
import Foundation
import Platform

extension ShellCommand {
  func check(_ path: String, _ arguments: Arguments) throws -> Int32 {
    let isOnServer = DataServer.isAddress(path)
    let whole = isOnServer ? "the database" : "the file"
    let limit = try number(arguments, "--limit") ?? 100
    let schemas = arguments.all("--schema")
    let report = try withActivity("check") { activity in
      let show: @Sendable (CheckProgress) -> Void = {
        if $0.total > 0 { activity.show($0.rows, of: $0.total) }
      }
      if !isOnServer { return try DataFile.check(path, schemas: schemas, limit: limit, show) }
      let server = try DataServer.open(path, schemas: schemas)
      defer { server.close() }
      return try server.check(limit: limit, show)
    }
    let isSound = report.worst == nil || report.worst == .note
    if arguments.has("--json") {
      try printJSON(report)
      return isSound ? Status.good : Status.nothing
    }
    for finding in report.findings {
      var place = finding.table.map { "table \($0)" } ?? whole
      if let row = finding.row { place += ", row \(row)" }
      try print(
        TextTable.plain(
          "\(finding.severity.rawValue): \(finding.kind): \(place): \(finding.message)"))
    }
    if report.isCut { try print("there may be more: see --limit") }
    if !report.checkedTypes.isEmpty {
      try print(TextTable.plain("checked: \(report.checkedTypes.joined(separator: ", "))"))
    }
    if !report.uncheckedTables.isEmpty {
      let tables = report.uncheckedTables.joined(separator: ", ")
      try print(TextTable.plain("not checked, without a schema: \(tables)"))
    }
    try print("next: \(report.nextStep)")
    return isSound ? Status.good : Status.nothing
  }

  func stats(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    let statistics = try withActivity("stats") { _ in try file.fileStatistics() }
    let uses = statistics.uses
    if arguments.has("--json") {
      try printJSON(uses)
      return Status.good
    }
    var table = TextTable(["name", "type", "pages", "bytes", "content", "unused"])
    for use in uses {
      table.add([
        use.name, use.type ?? "-", "\(use.pages)", "\(use.bytes)", "\(use.payload)",
        "\(use.unused)",
      ])
    }
    try print(table)
    if statistics.logBytes > 0 {
      try print("log: \(statistics.logBytes) bytes")
      for reader in statistics.logReaders {
        try print("log: read by \(reader), so it cannot begin anew")
      }
    }
    return Status.good
  }

  func stats(_ server: DataServer, _ arguments: Arguments) throws -> Int32 {
    let uses = try withActivity("stats") { _ in try server.statistics() }
    if arguments.has("--json") {
      try printJSON(uses)
      return Status.good
    }
    var table = TextTable(["name", "type", "bytes"])
    for use in uses { table.add([use.name, use.type ?? "-", "\(use.bytes)"]) }
    try print(table)
    return Status.good
  }

  func backup(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    var target = arguments.operands[1]
    var isFolder: ObjCBool = false
    _ = FileManager.default.fileExists(atPath: target, isDirectory: &isFolder)
    let keep = try number(arguments, "--keep")
    let isForFolder = isFolder.boolValue || target.hasSuffix("/")
    if keep != nil, !isForFolder {
      throw UsageError(
        message: "--keep is for a folder of backups, and '\(target)' is none",
        hint: "leave it out, or write \((target + "/").shellWord)")
    }
    let bytes: Int
    if isForFolder {
      let backup = try withActivity("backup") { activity in
        try file.backup(into: target, keep: keep) { activity.show($1 - $0, of: $1) }
      }
      (target, bytes) = (backup.path, backup.bytes)
    } else {
      bytes = try withActivity("backup") { activity in
        try file.backup(to: target) { activity.show($1 - $0, of: $1) }
      }
    }
    if arguments.has("--json") {
      try printJSON(["path": JSONText.text(target), "bytes": .number(bytes)])
    } else {
      try print("\(target): \(bytes) bytes, checked")
    }
    for table in try file.incomparableTables() {
      errors("only the pages were checked of the table \(TextTable.plain(table))\n")
    }
    return Status.good
  }

  func diff(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let other = try open(arguments.operands[1], arguments)
    defer { other.close() }
    let names = Array(arguments.operands.dropFirst(2))
    let isJSON = arguments.has("--json")
    let count = try withActivity("diff") { activity in
      try file.differences(from: other, types: names.isEmpty ? nil : names) { difference in
        activity.endBeforeResult()
        // There may be very many.
        if isJSON { try printLine(difference) } else { try print(difference) }
      }
    }
    errors(count == 1 ? "1 difference\n" : "\(count) differences\n")
    return tellProblems(of: other) || count > 0 ? Status.nothing : Status.good
  }

  private func print(_ difference: ObjectDifference) throws {
    let object = TextTable.plain(
      "\(difference.type) \(difference.key.joined(separator: ", "))")
    switch difference.kind {
    case .onlyInFirst: try print("- \(object)")
    case .onlyInSecond: try print("+ \(object)")
    case .changed:
      try print("~ \(object)")
      for field in difference.fields {
        try print("    " + TextTable.plain("\(field.name): \(field.first) → \(field.second)"))
      }
    }
  }
}

/// A text or a number of JSON.
enum JSONText: Encodable {
  case text(String)
  case number(Int)

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    }
  }
}
