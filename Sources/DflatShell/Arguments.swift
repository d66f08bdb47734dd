// Reading a command line by the description of its verb.

import Diagnostics

/// A command line that makes no sense.
struct UsageError: Error, CustomStringConvertible {
  let message: String
  var hint: String?

  var description: String { message + (hint.map { ": \($0)" } ?? "") }
}

/// The operands and options of a verb.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]

  /// - Parameter arguments: What stands behind the verb. `--` ends the options.
  init(_ arguments: [String], of verb: Verb) throws(UsageError) {
    var rest = arguments[...]
    var hasEnded = false
    while let argument = rest.popFirst() {
      if argument == "--", !hasEnded {
        hasEnded = true
        continue
      }
      // A number with a sign is an operand.
      guard !hasEnded, argument.hasPrefix("-"), argument.count > 1, Double(argument) == nil else {
        operands.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
      let name = ["-h": "--help", "-o": "--output"][parts[0]] ?? parts[0]
      guard let option = verb.allOptions.first(where: { $0.name == name }) else {
        let known = verb.allOptions.map(\.name)
        throw UsageError(
          message: "'\(verb.name)' has no option \(parts[0])",
          hint: nearest(to: name, among: known).map { "did you mean \($0)?" }
            ?? "there are \(known.joined(separator: ", "))")
      }
      if option.value == nil {
        if parts.count > 1 { throw UsageError(message: "\(name) has no value") }
        values[name, default: []].append("")
      } else if parts.count > 1 {
        values[name, default: []].append(parts[1])
      } else if let value = rest.popFirst() {
        values[name, default: []].append(value)
      } else {
        throw UsageError(message: "\(name) needs a value: \(option.value ?? "")")
      }
    }
    if has("--help") { return }
    guard verb.count.contains(operands.count) else {
      throw UsageError(
        message: operands.count < verb.count.lowerBound
          ? "something is missing" : "'\(operands[verb.count.upperBound])' is too much",
        hint: "usage: dflat \(verb.name) \(verb.operands)")
    }
  }

  /// Whether an option is given.
  func has(_ name: String) -> Bool { values[name] != nil }
  /// The last value of an option.
  func value(_ name: String) -> String? { values[name]?.last }
  /// All values of an option.
  func all(_ name: String) -> [String] { values[name] ?? [] }
}
