// The verbs about whole files: check, stats, backup, diff.

import DflatTools
import Foundation

extension ShellCommand {
  func check(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    var limit = 100
    if let text = arguments.value("--limit") {
      guard let number = Int(text), number > 0 else {
        throw UsageError(message: "the limit is a whole number from 1 up, and not '\(text)'")
      }
      limit = number
    }
    let report = try file.check(limit: limit)
    let isSound = report.worst == nil || report.worst == .note
    if arguments.has("--json") {
      try printJSON(report)
      return isSound ? Status.good : Status.nothing
    }
    for finding in report.findings {
      var place = finding.table.map { "table \($0)" } ?? "the file"
      if let row = finding.row { place += ", row \(row)" }
      try print("\(finding.severity.rawValue): \(finding.kind): \(place): \(finding.message)")
    }
    if report.isCut { try print("there may be more: see --limit") }
    if !report.checkedTypes.isEmpty {
      try print("checked: \(report.checkedTypes.joined(separator: ", "))")
    }
    if !report.uncheckedTables.isEmpty {
      try print("not checked, without a schema: \(report.uncheckedTables.joined(separator: ", "))")
    }
    try print("next: \(report.nextStep)")
    return isSound ? Status.good : Status.nothing
  }

  func stats(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    let uses = try file.statistics()
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
    return Status.good
  }

  func backup(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    let target = arguments.operands[1]
    let bytes = try file.backup(to: target)
    if arguments.has("--json") {
      try printJSON(["path": JSONText.text(target), "bytes": .number(bytes)])
    } else {
      try print("\(target): \(bytes) bytes, checked")
    }
    return Status.good
  }

  func diff(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    let other = try DataFile.open(arguments.operands[1], schemas: arguments.all("--schema"))
    defer { other.close() }
    let names = Array(arguments.operands.dropFirst(2))
    let isJSON = arguments.has("--json")
    let count = try file.differences(from: other, types: names.isEmpty ? nil : names) {
      if isJSON {
        // One object in each line, since there may be very many.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try output(try encoder.encode($0) + Data("\n".utf8))
      }
      let object = "\($0.type) \($0.key.joined(separator: ", "))"
      switch $0.kind {
      case .onlyInFirst: try print("- \(object)")
      case .onlyInSecond: try print("+ \(object)")
      case .changed:
        try print("~ \(object)")
        for field in $0.fields { try print("    \(field.name): \(field.first) → \(field.second)") }
      }
    }
    errors(count == 1 ? "1 difference\n" : "\(count) differences\n")
    return count == 0 ? Status.good : Status.nothing
  }
}

/// A text or a number of JSON.
private enum JSONText: Encodable {
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
