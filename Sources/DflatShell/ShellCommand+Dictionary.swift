// The verb `dictionary`.

import DflatServerTools
import DflatTools
import Foundation

extension ShellCommand {
  func dictionary(_ file: any DataStore, _ arguments: Arguments) throws -> Int32 {
    let operands = Array(arguments.operands.dropFirst())
    switch (operands.first ?? "list", operands.count) {
    case ("list", 0...1):
      let entries = try file.dictionary()
      if arguments.has("--json") {
        try printJSON(entries)
        return Status.good
      }
      var table = TextTable(["key", "kind", "value", "namespace"])
      for entry in entries { table.add([entry.key, entry.kind, entry.value, entry.namespace]) }
      try print(table)
      return Status.good
    case ("get", 2):
      guard let entry = try file.dictionaryEntry(operands[1]) else {
        return try noValue(operands[1], arguments)
      }
      if arguments.has("--json") { try printJSON(entry) } else { try printText(entry.value + "\n") }
      return Status.good
    case ("set", 3):
      let value = try input(operands[2], arguments.value("--type") ?? "string")
      let entry = try DictionaryEntry(operands[1], value)
      return try change(entry, to: value, "set to \(operands[2])", file, arguments)
    case ("remove", 2):
      guard let entry = try file.dictionaryEntry(operands[1]) else {
        return try noValue(operands[1], arguments)
      }
      return try change(entry, to: nil, "removed", file, arguments)
    default:
      throw UsageError(
        message: "this makes no sense",
        hint: "usage: dflat dictionary FILE [get KEY | set KEY VALUE | remove KEY]")
    }
  }

  private func noValue(_ key: String, _ arguments: Arguments) throws -> Int32 {
    errors("dflat: there is no value under '\(key)'\n")
    if arguments.has("--json") { try printJSON(DictionaryEntry?.none) }
    return Status.nothing
  }

  private func input(_ text: String, _ type: String) throws(UsageError) -> DictionaryInput {
    let value: DictionaryInput? =
      switch type {
      case "string": .string(text)
      case "int": Int(text).map { .int($0) }
      case "double": double(text).map { .double($0) }
      case "bool": Bool(text).map { .bool($0) }
      default:
        throw UsageError(
          message: "there is no type '\(type)'", hint: "there are string, int, double and bool")
      }
    if let value { return value }
    throw UsageError(message: "'\(text)' is no value of the type \(type)")
  }

  /// The number that a text says; nil if it is too large for a `Double`.
  private func double(_ text: String) -> Double? {
    guard let value = Double(text) else { return nil }
    return value.isInfinite && text.contains(where: \.isNumber) ? nil : value
  }

  /// - Parameter entry: The entry that is set, or removed.
  private func change(
    _ entry: DictionaryEntry, to value: DictionaryInput?, _ effect: String, _ file: any DataStore,
    _ arguments: Arguments
  ) throws -> Int32 {
    let key = entry.key
    let before = try file.dictionaryEntry(key).map { ", which is \($0.value) now," } ?? ""
    errors("'\(key)'\(before) \(future(arguments)) \(effect)\n")
    if !(try mayChange(file.path, arguments)) {
      guard arguments.has("--dry-run") else { return Status.nothing }
      if arguments.has("--json") { try printJSON(entry) }
      return Status.good
    }
    let operand = arguments.operands[0]
    if DataServer.isAddress(operand) {
      try DataServer.setDictionaryValue(key, to: value, onServer: operand)
    } else {
      try DataFile.setDictionaryValue(key, to: value, inFileAt: operand)
    }
    if arguments.has("--json") { try printJSON(entry) }
    return Status.good
  }
}
