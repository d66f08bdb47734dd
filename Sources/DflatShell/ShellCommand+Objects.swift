// The verbs that show objects: get, query, export.

import Dflat
import DflatTools
import Foundation
import Platform

/// An explanation as JSON.
private struct Explanation: Encodable {
  let statement: String?
  let plan: [String]
  let indexes: [String]
  let indexedFields: [String]
  let rowByRow: String?
  let isSortedInMemory: Bool

  init(_ explanation: QueryExplanation) {
    statement = explanation.statement
    plan = explanation.plan
    indexes = explanation.indexes
    indexedFields = explanation.indexedFields
    rowByRow = explanation.rowByRow
    isSortedInMemory = explanation.isSortedInMemory
  }
}

extension ShellCommand {
  func get(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let type = try file.type(named: arguments.operands[1])
    let key = Array(arguments.operands.dropFirst(2))
    guard let object = try file.object(of: type, key: key) else {
      if arguments.has("--json") { try printJSON(String?.none) }
      if !file.problems.isEmpty { return Status.nothing }
      errors("dflat: there is no \(type.name) with the key \(key.joined(separator: ", "))\n")
      return Status.nothing
    }
    try printJSON(object)
    return Status.good
  }

  func query(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let answers = ["--count", "--explain", "--select"].filter(arguments.has)
    if answers.count > 1 {
      throw UsageError(
        message: "\(answers.joined(separator: " and ")) cannot be given together",
        hint: "each prints another answer")
    }
    return try arguments.has("--watch") ? watchQuery(file, arguments) : answer(file, arguments)
  }

  /// Prints the answer of a query as it is now.
  func answer(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let text = arguments.operands[1]
    let isJSON = arguments.has("--json")
    if arguments.has("--count") {
      try print("\(try withActivity("query") { _ in try file.count(text) })")
      return Status.good
    }
    if arguments.has("--explain") {
      let explanation = try file.explain(text)
      if isJSON { try printJSON(Explanation(explanation)) } else { try explain(explanation) }
      return Status.good
    }
    let answer = try withActivity("query") { _ in
      try file.query(text, selecting: arguments.value("--select"))
    }
    if isJSON {
      try printJSON(answer.objects)
      return Status.good
    }
    var table = TextTable(answer.columns)
    for object in answer.objects { table.add(try object.texts(of: answer.columns)) }
    try print(table)
    let count = answer.objects.count
    errors("\(count) \(count == 1 ? "object" : "objects")\n")
    return Status.good
  }

  private func explain(_ explanation: QueryExplanation) throws {
    if let statement = explanation.statement { try print("statement: \(statement)") }
    for line in explanation.plan { try print("plan: \(line)") }
    for (table, fields) in zip(explanation.indexes, explanation.indexedFields) {
      try print("index: \(fields) (\(table))")
    }
    if explanation.indexes.isEmpty { try print("index: none, each object is looked at") }
    if let condition = explanation.rowByRow { try print("row by row: \(condition)") }
    if explanation.isSortedInMemory { try print("sorted in memory") }
  }

  func export(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let type = try file.type(named: arguments.operands[1])
    let name = arguments.value("--format") ?? "jsonl"
    guard let format = DataFile.ExportFormat(rawValue: name) else {
      throw UsageError(message: "there is no format '\(name)'", hint: "there are jsonl and csv")
    }
    let isJSON = arguments.has("--json")
    if isJSON, format == .csv {
      throw UsageError(
        message: "--json and CSV cannot be given together",
        hint: "leave out --format csv, or --json")
    }
    var incomplete: (count: Int, first: String?) = (0, nil)
    func leaveOut(_ part: String) {
      incomplete = (incomplete.count + 1, incomplete.first ?? part)
    }
    func reportIncomplete() {
      guard let first = incomplete.first else { return }
      errors(
        "\(incomplete.count) objects lack what only a newer schema knows; the first is \(first)\n"
          + "hint: give the newer schema, --schema FILE.fbs\n")
    }
    guard let path = arguments.value("--output") else {
      // On a terminal the objects themselves show how far it is.
      let count =
        try terminal.width != nil
        ? file.export(type, as: format, leavingOut: leaveOut, to: output)
        : withActivity("export") { activity in
          var bytes = 0
          return try file.export(type, as: format, leavingOut: leaveOut) {
            try output($0)
            bytes += $0.count
            activity.show(bytes, of: nil)
          }
        }
      errors("\(count) objects\n")
      reportIncomplete()
      return Status.good
    }
    guard let replaces = try mayReplace(path, file, arguments) else { return Status.nothing }
    endsWhenInterrupted(stop)
    let count = try withActivity("export") { activity in
      try file.export(
        type, as: format, toFile: path, replacing: replaces, leavingOut: leaveOut
      ) {
        activity.show($0, of: nil)
        if stop.wait(milliseconds: 0) {
          throw ToolError(.storage, "\(path) was not written: the export was interrupted")
        }
      }
    }
    errors("\(count) objects in \(path)\n")
    if isJSON { try printJSON(["path": JSONText.text(path), "objects": .number(count)]) }
    reportIncomplete()
    return Status.good
  }

  /// Whether a file that is there is replaced; nil if a person does not want it.
  private func mayReplace(
    _ path: String, _ file: any DataStore, _ arguments: Arguments
  ) throws -> Bool? {
    // Before anybody is asked.
    let isThere = try file.exportTarget(path).isThere
    if arguments.has("--yes") { return true }
    if !isThere || !terminal.canAsk { return false }
    errors("\(path) will be replaced\n")
    return try mayChange(path, arguments) ? true : nil
  }
}
