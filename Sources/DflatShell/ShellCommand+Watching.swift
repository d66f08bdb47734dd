// What goes on until a person ends it: watch, query --watch, serve.

import DflatInspector
import DflatServerTools
import DflatTools
import Foundation

extension ShellCommand {
  func watch(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let names = Array(arguments.operands.dropFirst())
    let isJSON = arguments.has("--json")
    endsWhenInterrupted(stop)
    try file.watch(
      types: names.isEmpty ? nil : names, until: stop,
      began: { errors("watching \(file.path): end with Ctrl-C\n") }
    ) { change in
      if isJSON { return try printLine(change) }
      let object = TextTable.plain("\(change.type) \(change.key.joined(separator: ", "))")
      switch change.kind {
      case .inserted: try print("+ \(object)")
      case .deleted: try print("- \(object)")
      case .updated:
        try print("~ \(object)")
        for field in change.fields {
          try print("    " + TextTable.plain("\(field.name): \(field.old) → \(field.new)"))
        }
      }
    }
    return Status.good
  }

  func serve(_ path: String, _ arguments: Arguments) throws -> Int32 {
    let allowsChanges = arguments.has("--allow-changes")
    let schemas = arguments.all("--schema")
    let inspector =
      try DataServer.isAddress(path)
      ? Inspector.start(
        allowsChanges
          ? DataServer.openForChanges(path, schemas: schemas)
          : DataServer.open(path, schemas: schemas),
        allowsChanges: allowsChanges)
      : Inspector.start(file: path, allowsChanges: allowsChanges, schemas: schemas)
    defer { inspector.stop() }
    endsWhenInterrupted(stop)
    errors("showing \(inspector.path): open the address in a browser, end with Ctrl-C\n")
    if arguments.has("--json") {
      try printJSON(["address": inspector.address])
    } else {
      try print(inspector.address)
    }
    while !stop.wait(milliseconds: 60_000) {}
    return Status.good
  }

  /// Prints the answer of a query, and again when it has changed.
  func watchQuery(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    endsWhenInterrupted(stop)
    var isFirst = true
    try file.watch(until: stop, asking: { try capturedAnswer(file, arguments) }) { answer in
      if !isFirst, !arguments.has("--json") { try print("") }
      isFirst = false
      try output(answer)
    }
    return Status.good
  }

  /// What a query prints.
  private func capturedAnswer(_ file: any DataStore, _ arguments: Arguments) throws -> Data {
    let answer = Captured()
    let command = ShellCommand(
      terminal: terminal, output: { answer.bytes.append($0) }, errors: { _ in }, input: input)
    _ = try command.answer(file, arguments)
    return answer.bytes
  }
}

/// Collects what a command prints.
private final class Captured {
  var bytes = Data()
}
