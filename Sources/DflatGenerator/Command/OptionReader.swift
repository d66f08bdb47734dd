// Splits a command line into options, their values, and operands.

import DflatSchema

struct OptionReader {
  enum Argument {
    /// With the attached value, if there is one.
    case option(String, attached: String?)
    case operand(String)

    /// The option without its value, or the operand.
    var name: String {
      switch self {
      case .option(let name, _): name
      case .operand(let text): text
      }
    }

    /// The argument as written.
    var text: String {
      switch self {
      case .option(let name, nil): name
      case .option(let name, let value?): name.hasPrefix("--") ? "\(name)=\(value)" : name + value
      case .operand(let text): text
      }
    }
  }

  private var rest: ArraySlice<String>
  private let long: [String]
  private var hasEnded = false

  /// - Parameter long: All long options. They may be abbreviated, as in the command line of
  ///   upstream's script, where no other begins so.
  init(_ arguments: ArraySlice<String>, long: [String]) {
    rest = arguments
    self.long = long
  }

  /// The option that an abbreviation stands for; the text itself if there is not exactly one.
  private func option(_ text: String) -> String {
    let meant = long.filter { $0.hasPrefix(text) }
    return meant.count == 1 ? meant[0] : text
  }

  /// The next option or operand; nil at the end.
  mutating func next() -> Argument? {
    guard let argument = rest.popFirst() else { return nil }
    if hasEnded || !argument.hasPrefix("-") || argument == "-" { return .operand(argument) }
    if argument == "--" {
      hasEnded = true
      return next()
    }
    if argument.hasPrefix("--") {
      guard let equals = argument.firstIndex(of: "=") else {
        return .option(option(argument), attached: nil)
      }
      let value = String(argument[argument.index(after: equals)...])
      return .option(option(String(argument[..<equals])), attached: value)
    }
    guard argument.count > 2, ["-o", "-I", "-S"].contains(argument.prefix(2)) else {
      return .option(argument, attached: nil)
    }
    return .option(String(argument.prefix(2)), attached: String(argument.dropFirst(2)))
  }

  /// What an option that does not exist could mean, as the end of a message.
  func guess(_ argument: Argument) -> String {
    guard case .option(let name, _) = argument, name.hasPrefix("--") else { return "" }
    let begun = long.filter { $0.hasPrefix(name) }
    if begun.count > 1 { return "; it could be \(begun.joined(separator: " or "))" }
    return nearest(to: name, among: long).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// The value of an option: attached to it, or the next argument.
  mutating func value(
    of argument: Argument, _ what: String = "a path"
  ) throws(UsageError) -> String {
    guard case .option(let name, let attached) = argument else { return argument.text }
    guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
      throw UsageError(message: "\(name) needs \(what) behind it")
    }
    return value
  }

  /// The value of an option that names something in Swift.
  mutating func path(
    of argument: Argument, _ what: String
  ) throws(UsageError) -> String {
    let text = try value(of: argument, what)
    if Identifier.isPath(text) { return text }
    throw UsageError(
      message: "\(argument.name) cannot be '\(text)'; it is \(what), such as Shop or Shop.API")
  }

  /// The value of an option that has a few.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    of argument: Argument, _ type: Choice.Type, _ what: String
  ) throws(UsageError) -> Choice {
    let text = try value(of: argument, what)
    if let choice = Choice(rawValue: text) { return choice }
    throw UsageError(
      message: "\(argument.name) cannot be '\(text)'; \(Choice.guess(text))choices are "
        + Choice.allCases.map(\.rawValue).joined(separator: ", "))
  }

  /// The value of `--access`, which is given once.
  mutating func access(
    of argument: Argument, after earlier: AccessLevel?
  ) throws(UsageError) -> AccessLevel {
    if earlier != nil { throw UsageError(message: "\(argument.name) is given twice") }
    return try choice(of: argument, AccessLevel.self, "a level")
  }
}

extension CaseIterable where Self: RawRepresentable<String> {
  /// What a text that is none of the names could mean, up to the list of these.
  static func guess(_ text: String) -> String {
    nearest(to: text, among: allCases.map(\.rawValue)).map { "did you mean '\($0)'? The " }
      ?? "the "
  }
}
