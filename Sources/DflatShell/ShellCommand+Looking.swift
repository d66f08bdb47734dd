// The verbs that look at types: info, schema.

import Dflat
import DflatServerTools
import DflatTools
import Foundation

extension ShellCommand {
  func info(_ file: DataFile, _ arguments: Arguments) throws -> Int32 {
    let information = try withActivity("info") { _ in
      try file.information(countingAll: arguments.has("--count"))
    }
    if arguments.has("--json") {
      try printJSON(information)
      return Status.good
    }
    let log = information.logBytes > 0 ? ", and a log of \(size(information.logBytes))" : ""
    try print("\(information.path): \(size(information.bytes))\(log)")
    try print(
      "\(information.pages) pages of \(information.pageBytes) bytes, \(information.freePages) free; "
        + "journal mode \(information.journalMode), auto-vacuum \(information.autoVacuum)")
    try print("SQLite \(information.sqliteVersion), Dflat \(information.libraryVersion)")
    try print(information.types, estimate: "≤", place: "in the file")
    let others = information.otherTables
    if information.dictionaryEntries > 0 || !others.isEmpty { try print("") }
    if information.dictionaryEntries > 0 {
      try print("dictionary: \(information.dictionaryEntries) entries")
    }
    if !others.isEmpty {
      try print(TextTable.plain("other tables: \(others.joined(separator: ", "))"))
    }
    if !information.hazards.isEmpty { try print("\nhazards:") }
    for hazard in information.hazards { try print(TextTable.plain("- \(hazard)")) }
    return Status.good
  }

  func info(_ server: DataServer, _ arguments: Arguments) throws -> Int32 {
    let information = try withActivity("info") { _ in
      try server.information(countingAll: arguments.has("--count"))
    }
    if arguments.has("--json") {
      try printJSON(information)
      return Status.good
    }
    try print("\(information.path): \(size(information.bytes)), schema \(information.schema)")
    try print("PostgreSQL \(information.serverVersion), Dflat \(information.libraryVersion)")
    try print(information.types, estimate: "~", place: "on the server")
    if information.dictionaryEntries > 0 {
      try print("\ndictionary: \(information.dictionaryEntries) entries")
    }
    return Status.good
  }

  /// - Parameters:
  ///   - estimate: Stands before numbers of objects that were not counted.
  ///   - place: Where schemas are kept.
  private func print(
    _ types: [TypeInformation], estimate: String, place: String
  ) throws {
    if !types.isEmpty {
      var table = TextTable(["type", "rows", "indexes", "schema", "table"])
      for type in types {
        let complete = type.indexes.count { $0.state == .complete }
        table.add([
          type.name, (type.rowsAreCounted ? "" : "\(estimate) ") + "\(type.rows)",
          type.indexes.isEmpty ? "-" : "\(complete) of \(type.indexes.count) complete",
          origin(type, place), type.table,
        ])
      }
      try print("")
      try print(table)
    }
    for type in types {
      if let problem = type.problem {
        try print("\n" + TextTable.plain("\(type.table): \(problem)"))
      }
    }
    if types.contains(where: { $0.names == "unknown" }) {
      try print("\nthere is no schema for some types: give one with --schema FILE.fbs")
    }
  }

  private func origin(_ type: TypeInformation, _ place: String) -> String {
    switch type.names {
    case "kept":
      let count = type.shapes.count
      return count == 1 ? place : "\(place), \(count) shapes"
    case "file": return "given"
    default: return "unknown"
    }
  }

  private func size(_ bytes: Int) -> String {
    var (number, unit) = (Double(bytes), 0)
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while number >= 1024, unit < units.count - 1 {
      number /= 1024
      unit += 1
    }
    return unit == 0 ? "\(bytes) bytes" : "\((number * 10).rounded() / 10) \(units[unit])"
  }

  func schema(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let types =
      arguments.operands.count > 1
      ? [try file.type(named: arguments.operands[1])] : file.types
    if arguments.has("--json") {
      var texts: [String: String] = [:]
      for type in types where type.origin != .unknown || types.count == 1 {
        texts[type.table] = try type.schemaText()
      }
      try printJSON(texts)
      return Status.good
    }
    for (place, type) in types.enumerated() {
      if types.count > 1 {
        try print((place > 0 ? "\n" : "") + TextTable.plain("// \(type.table)"))
      }
      if type.origin == .unknown, types.count > 1 {
        try print("// there is no schema for this table")
      } else {
        try printText(try type.schemaText())
      }
    }
    return types.isEmpty ? Status.nothing : Status.good
  }
}
