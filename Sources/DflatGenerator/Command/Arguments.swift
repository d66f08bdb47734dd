// Arguments: the parsed command line of dflatc.
//
// `dflatc check` is in Arguments+Check.swift, and so with `module` and `graphql`. Options may
// appear anywhere. A short option takes its value from the next argument or directly behind it
// (`-o DIR`, `-oDIR`), a long one from the next argument or behind an equals sign. `--` ends the
// options.

import DflatSchema
import Foundation

/// An invalid command line.
struct UsageError: Error, Equatable {
  let message: String
}

extension UsageError {
  fileprivate init(unknownCommand name: String) {
    let guess =
      nearest(to: name, among: Request.commands).map { "did you mean '\($0)'? The " } ?? "the "
    message =
      "there is no command '\(name)'; \(guess)"
      + "commands are \(Request.commands.joined(separator: ", ")), and schemas end in .fbs"
  }
}

/// The command to run.
enum Request: Equatable {
  case compile(CompileRequest)
  case module(ModuleRequest)
  case check(CheckRequest)
  case graphQL(GraphQLRequest)
  case help(String?)
  case version
}

/// `dflatc compile`.
struct CompileRequest: Equatable {
  var output = ""
  var include: [String] = []
  var configuration: String?
  var inputs: [String] = []
  /// nil if the command line does not say it.
  var access: AccessLevel?
  var keepsJSON = false
  var declaresNamespaces = false
  var modules: [ModuleMap.Module] = []
  /// Swift files of the module; generated code avoids the names of their types.
  var swift: [String] = []
  /// Schemas that other calls compile into the same module; nil if they are not known.
  var beside: [String]?
}

extension Request {
  static let commands = ["compile", "module", "check", "graphql", "help"]

  /// Parses a command line without the program's name.
  init(_ arguments: [String]) throws(UsageError) {
    var arguments = arguments[...]
    // Without a command, `compile` is meant.
    let command = arguments.first.flatMap { Self.commands.contains($0) ? $0 : nil }
    if command != nil {
      arguments.removeFirst()
    } else if let first = arguments.first, Self.isCommandLike(first) {
      throw UsageError(unknownCommand: first)
    }
    switch command {
    case "help":
      guard arguments.count <= 1 else {
        throw UsageError(message: "help takes one command, not \(arguments.count)")
      }
      if let topic = arguments.first, !Self.commands.contains(topic) {
        throw UsageError(unknownCommand: topic)
      }
      self = .help(arguments.first)
    case "graphql":
      self = try Self.graphQL(arguments)
    case "check":
      self = try Self.check(arguments)
    case "module":
      self = try Self.module(arguments)
    default:
      self = try Self.compile(arguments)
    }
  }

  /// Whether a first argument is a word and not a path: schema files end in `.fbs`.
  private static func isCommandLike(_ argument: String) -> Bool {
    !argument.isEmpty && argument.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }
      && !argument.hasPrefix("-") && !FileManager.default.fileExists(atPath: argument)
  }

  /// The options that may be abbreviated.
  private static let longOptions = [
    "--output", "--include", "--config", "--module", "--beside", "--swift", "--help", "--version",
    "--keep-json", "--declare-namespaces", "--access", "--schema",
  ]

  private static func compile(_ arguments: ArraySlice<String>) throws(UsageError) -> Request {
    var request = CompileRequest()
    var output: String?
    var line = OptionReader(arguments, long: longOptions)
    while let argument = line.next() {
      guard case .option(let option, let attached) = argument else {
        request.inputs.append(argument.text)
        continue
      }
      switch option {
      // The last one counts, as in the command line of upstream's script.
      case "-o", "--output": output = try line.value(of: argument)
      case "-I", "--include": request.include.append(try line.value(of: argument))
      case "--config":
        if request.configuration != nil { throw UsageError(message: "--config is given twice") }
        request.configuration = try line.value(of: argument)
      case "--module": request.modules.append(try line.module(of: argument))
      case "--beside": request.beside = (request.beside ?? []) + [try line.value(of: argument)]
      case "--swift": request.swift.append(try line.value(of: argument))
      case "--access": request.access = try line.access(of: argument, after: request.access)
      case "-h", "--help": return .help(nil)
      case "--version": return .version
      case "--keep-json", "--declare-namespaces":
        if attached != nil { throw UsageError(message: "\(option) takes no value") }
        if option == "--keep-json" {
          request.keepsJSON = true
        } else {
          request.declaresNamespaces = true
        }
      case "-S", "--schema": throw UsageError(message: "\(option) belongs to 'dflatc graphql'")
      default:
        throw UsageError(
          message: "there is no option '\(argument.text)'" + line.guess(argument))
      }
    }
    guard let output else {
      let input = request.inputs.first ?? "post.fbs"
      throw UsageError(
        message: "-o DIR is missing: where are the Swift files to go? "
          + "For example 'dflatc -o Generated \(input)'")
    }
    if request.inputs.isEmpty {
      throw UsageError(
        message: "no .fbs file is given; for example 'dflatc -o \(output) post.fbs'")
    }
    request.output = output
    try checkNames(request.inputs)
    return .compile(request)
  }

  /// Two inputs must not write the same file: `post.fbs` and `post_query.fbs` both would.
  private static func checkNames(_ inputs: [String]) throws(UsageError) {
    var seen: [String: String] = [:]
    for input in inputs {
      for name in Generator.fileNames(for: input) {
        guard let other = seen.updateValue(input, forKey: name) else { continue }
        throw UsageError(
          message: other == input
            ? "'\(input)' is given twice" : "'\(other)' and '\(input)' would both write \(name)")
      }
    }
  }
}
