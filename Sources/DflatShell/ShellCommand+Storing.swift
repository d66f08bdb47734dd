// The verbs that store objects: import, copy.

import DflatServerTools
import DflatTools
import Foundation

extension ShellCommand {
  func importObjects(_ arguments: Arguments) throws -> Int32 {
    let input = arguments.operands[2]
    let target = try target(arguments.operands[0])
    let path = target.path
    var job = try Import(
      into: target, type: arguments.operands[1], schemas: arguments.all("--schema"))
    let name = arguments.value("--format") ?? (input.hasSuffix(".csv") ? "csv" : "jsonl")
    guard let format = DataFile.ExportFormat(rawValue: name) else {
      throw UsageError(message: "there is no format '\(name)'", hint: "there are jsonl and csv")
    }
    job.format = format
    job.firstLine = try number(arguments, "--from-line") ?? 1
    job.isOneTransaction = arguments.has("--one-transaction")
    job.isDryRun = arguments.has("--dry-run")
    let (read, size) = try reader(of: input)
    if !job.isDryRun {
      let kind = DataServer.isAddress(arguments.operands[0]) ? "PostgreSQL schema of" : "file"
      let place = job.isNewFile ? "the new \(kind) \(path)" : path
      let source = input == "-" ? "standard input" : input
      errors("\(source) will be stored in \(place), as objects of the type \(job.type.name)\n")
      if !(try mayChange(path, arguments, canAsk: input != "-")) { return Status.nothing }
    }
    let report = try withActivity("import") { activity in
      try job.run(reading: read) { activity.show($0.bytes, of: size) }
    }
    if arguments.has("--json") { try printJSON(report) } else { try printReport(report) }
    for problem in report.problems { errors("dflat: \(input): \(problem)\n") }
    if let line = report.nextLine {
      errors(
        job.isOneTransaction
          ? "nothing was stored: correct the line, and import again\n"
          : "the lines before are stored: go on with --from-line \(line)\n")
    }
    return report.problems.isEmpty ? Status.good : Status.badData
  }

  private func printReport(_ report: ImportReport) throws {
    let done = report.isDryRun ? "would be " : ""
    try print(
      "\(report.type): \(report.inserted) \(done)inserted, \(report.updated) \(done)updated, "
        + "\(report.unchanged) unchanged")
  }

  /// What reads the input, and its size in bytes, if it is a file.
  private func reader(of input: String) throws -> (read: () throws -> Data?, size: Int?) {
    if input == "-" { return (standardInput, nil) }
    guard let handle = FileHandle(forReadingAtPath: input) else {
      throw ToolError(.noSuchFile, "there is no file \(input)", advice: "check the path")
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: input)
    let read = {
      try withSystemErrors(input, "read") { try handle.read(upToCount: 1 << 20) }
    }
    return (read, attributes[.size] as? Int)
  }

  func copy(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let target = try target(arguments.operands[1])
    let names = Array(arguments.operands.dropFirst(2))
    let types = try names.isEmpty ? file.types : names.map { try file.type(named: $0) }
    let objects = try withActivity("copy") { _ in
      try types.map { ($0.name, try file.count("`\($0.table)`")) }
    }
    let counts = objects.map { "\($1) of \($0)" }
    errors(
      "objects of \(file.path) \(future(arguments)) stored in \(target.path): "
        + (counts.isEmpty ? "none" : TextTable.plain(counts.joined(separator: ", "))) + "\n")
    if !(try mayChange(target.path, arguments)) {
      guard arguments.has("--dry-run") else { return Status.nothing }
      if arguments.has("--json") {
        try printJSON(objects.map { ["type": JSONText.text($0), "objects": .number($1)] })
      }
      return Status.good
    }
    let copied = try withActivity("copy") { activity in
      try file.copy(into: target, types: names.isEmpty ? nil : names) { activity.show($0, of: nil) }
    }
    if arguments.has("--json") {
      try printJSON(copied)
      return Status.good
    }
    var table = TextTable(["type", "inserted", "updated", "unchanged"])
    for type in copied {
      table.add([type.type, "\(type.inserted)", "\(type.updated)", "\(type.unchanged)"])
    }
    try print(table)
    return Status.good
  }

  func prepare(_ address: String, _ arguments: Arguments) throws -> Int32 {
    let from = try arguments.value("--from").map { store -> any DataStore in
      DataServer.isAddress(store) ? try DataServer.open(store) : try DataFile.open(store)
    }
    defer { from?.close() }
    let preparation = try ServerPreparation(
      ofServer: address, schemas: arguments.all("--schema"), typesOf: from)
    let grants = arguments.value("--role").map {
      preparation.grants(to: $0, readsOnly: arguments.has("--read-only"))
    }
    // Before anything is announced: the database may be out of reach.
    let missing = try preparation.statements()
    if arguments.has("--print") {
      if missing.isEmpty { errors("\(preparation.path) has all that the types need\n") }
      let statements = missing + (grants ?? [])
      if arguments.has("--json") {
        try printJSON(statements)
      } else {
        for statement in statements { try printText(statement + ";\n") }
      }
      return Status.good
    }
    errors(
      "\(preparation.path) will be prepared for \(preparation.types.joined(separator: ", "))\n")
    if !(try mayChange(preparation.path, arguments)) { return Status.nothing }
    try withActivity("prepare") { _ in try preparation.run() }
    if arguments.has("--json") {
      try printJSON(["types": preparation.types, "grants": grants ?? []])
      return Status.good
    }
    errors("\(preparation.path) is ready for \(preparation.types.joined(separator: ", "))\n")
    for grant in grants ?? [] { try printText(grant + ";\n") }
    return Status.good
  }

  // MARK: What verbs that change files share

  /// How a message before a change begins what it says of it.
  func future(_ arguments: Arguments) -> String {
    arguments.has("--dry-run") ? "would be" : "will be"
  }

  /// Whether to go on: asks a person, unless `--yes` is given. It does not with `--dry-run`.
  /// - Parameter canAsk: Whether the answers of the person are not the input of the verb.
  func mayChange(_ path: String, _ arguments: Arguments, canAsk: Bool = true) throws -> Bool {
    if arguments.has("--dry-run") { return false }
    if arguments.has("--yes") { return true }
    guard terminal.canAsk, canAsk else {
      throw UsageError(message: "nobody can be asked here", hint: "call it with --yes")
    }
    errors("change \(path)? [y/N] ")
    if ["y", "yes"].contains(input()?.lowercased()) { return true }
    errors("nothing was changed\n")
    return false
  }

  /// The value of an option that is a number from 1 up.
  func number(_ arguments: Arguments, _ option: String) throws(UsageError) -> Int? {
    guard let text = arguments.value(option) else { return nil }
    if let number = Int(text), number > 0 { return number }
    throw UsageError(
      message: "\(option) has a whole number from 1 up, and not '\(text)'")
  }
}
