// ShellCommand: the program `dflat`, without the process around it.
//
// Everything that a verb does is a call of DflatTools; here are arguments, tables and texts only.
// Results go to standard output, everything else to standard error.

import Diagnostics
import DflatServerTools
import DflatTools
import Foundation
import Platform

/// The command line of `dflat`.
struct ShellCommand {
  /// How the program ends.
  enum Status {
    static let good: Int32 = 0
    /// Nothing is there, or things differ.
    static let nothing: Int32 = 1
    static let usage: Int32 = 64
    static let badData: Int32 = 65
    static let noFile: Int32 = 66
    static let io: Int32 = 74
  }

  let terminal: Terminal
  let output: (Data) throws -> Void
  var errors: (String) -> Void
  /// The next line that a person types.
  let input: () -> String?
  /// The next bytes of standard input; nil or none at its end.
  var standardInput: () throws -> Data? = { nil }
  /// Ends what goes on until a person ends it.
  var stop = StopSignal()
  /// Has a signal given when a person interrupts the program.
  var endsWhenInterrupted: (StopSignal) -> Void = { _ in }

  /// Runs a command line.
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The exit status.
  func run(_ arguments: [String]) -> Int32 {
    // Whatever a message is about, it shows no password of the arguments.
    let secrets = AddressSecrets(in: arguments)
    var command = self
    command.errors = { [errors] in
      errors(TextTable.plain(secrets.removed(from: $0), keepsLines: true))
    }
    return command.status(of: arguments, secrets)
  }

  private func status(of arguments: [String], _ secrets: AddressSecrets) -> Int32 {
    do {
      return try start(arguments)
    } catch {
      let status = Self.status(of: error)
      let isJSON = arguments.prefix { $0 != "--" }.contains("--json")
      // In JSON a password may be spelled otherwise than it was given.
      let message = secrets.removed(from: "\(error)")
      errors(isJSON ? FailureJSON(error: message, status: status).line : "dflat: \(message)\n")
      return status
    }
  }

  private static func status(of error: any Error) -> Int32 {
    switch error {
    case is UsageError, is QueryTextError: Status.usage
    case let error as ToolError:
      switch error.kind {
      case .usage: Status.usage
      case .badData: Status.badData
      case .noSuchFile: Status.noFile
      case .storage: Status.io
      }
    default: Status.io
    }
  }

  private func start(_ arguments: [String]) throws -> Int32 {
    guard let first = arguments.first else {
      errors(Help.general)
      return Status.usage
    }
    switch first {
    case "--version":
      try print("dflat \(DataFile.libraryVersion)")
      return Status.good
    case "help", "--help", "-h":
      guard arguments.count > 1 else {
        try output(Data(Help.general.utf8))
        return Status.good
      }
      try output(Data(try help(Array(arguments.dropFirst())).utf8))
      return Status.good
    default: break
    }
    let verb = try verb(first)
    let arguments = try Arguments(Array(arguments.dropFirst()), of: verb)
    if arguments.has("--help") {
      try output(Data(Help.text(of: verb).utf8))
      return Status.good
    }
    return try run(verb, arguments)
  }

  private func help(_ words: [String]) throws(UsageError) -> String {
    let names = words.filter { $0 != "--man" }
    if names.count > 1 { throw UsageError(message: "'\(names[1])' is too much") }
    let verb = try names.first.map { name throws(UsageError) in try self.verb(name) }
    if names.count == words.count { return verb.map { Help.text(of: $0) } ?? Help.general }
    return verb.map { ManPage.page(of: $0) } ?? ManPage.general
  }

  private func verb(_ name: String) throws(UsageError) -> Verb {
    if let verb = Verb.named(name) { return verb }
    throw UsageError(
      message: "there is no verb '\(name)'",
      hint: nearest(to: name, among: Verb.all.map(\.name)).map { "did you mean '\($0)'?" }
        ?? "see 'dflat help'")
  }

  private func run(_ verb: Verb, _ arguments: Arguments) throws -> Int32 {
    for store in verb.stores(of: arguments)
    where AddressSecrets.isLikeAddress(store) && !DataServer.isAddress(store) {
      throw UsageError(
        message: "'\(store)' is no address of a server",
        hint: "write postgresql://USER@HOST/DATABASE")
    }
    let path = arguments.operands[0]
    if verb.name == "serve" { return try serve(path, arguments) }
    if verb.name == "check" { return try check(path, arguments) }
    if DataServer.isAddress(path) {
      if verb.name == "import" { return try importObjects(arguments) }
      if verb.name == "prepare" { return try prepare(path, arguments) }
      return try look(verb, onServer: path, arguments)
    }
    if ["backup", "restore"].contains(verb.name), DataServer.isAddress(arguments.operands[1]) {
      throw Self.refusal(of: verb)
    }
    // What does not only look must not have the file open otherwise.
    switch verb.name {
    case "import": return try importObjects(arguments)
    case "prepare":
      throw UsageError(
        message: "'prepare' works on servers, and not on files",
        hint: "programs create in a file what they need")
    case "repair": return try repair(arguments)
    case "restore": return try restore(arguments)
    case "vacuum": return try vacuum(arguments)
    case "completions": return try completions(path, arguments)
    default: return try look(verb, path, arguments)
    }
  }

  private func look(_ verb: Verb, _ path: String, _ arguments: Arguments) throws -> Int32 {
    let file = try DataFile.open(path, schemas: arguments.all("--schema"))
    defer { file.close() }
    switch verb.name {
    case "info": return try info(file, arguments)
    case "stats": return try stats(file, arguments)
    case "backup": return try backup(file, arguments)
    default: return try look(verb, at: file, arguments)
    }
  }

  private func look(_ verb: Verb, onServer address: String, _ arguments: Arguments) throws -> Int32
  {
    if Self.insteadOnServers[verb.name] != nil { throw Self.refusal(of: verb) }
    let server = try DataServer.open(address, schemas: arguments.all("--schema"))
    defer { server.close() }
    switch verb.name {
    case "info": return try info(server, arguments)
    case "stats": return try stats(server, arguments)
    default: return try look(verb, at: server, arguments)
    }
  }

  /// What looks at files and at databases on servers.
  private func look(
    _ verb: Verb, at store: any DataStore, _ arguments: Arguments
  ) throws -> Int32 {
    let status = try answer(verb, at: store, arguments)
    return tellProblems(of: store) && status == Status.good ? Status.nothing : status
  }

  /// Says what a store has left out because it could not be read.
  /// - Returns: Whether there was anything.
  func tellProblems(of store: any DataStore) -> Bool {
    let problems = store.problems
    for problem in problems { errors("dflat: left out: \(problem)\n") }
    if !problems.isEmpty { errors("next: dflat check \(store.path.shellWord)\n") }
    return !problems.isEmpty
  }

  private func answer(
    _ verb: Verb, at store: any DataStore, _ arguments: Arguments
  ) throws -> Int32 {
    switch verb.name {
    case "schema": return try schema(store, arguments)
    case "get": return try get(store, arguments)
    case "query": return try query(store, arguments)
    case "export": return try export(store, arguments)
    case "diff": return try diff(store, arguments)
    case "copy": return try copy(store, arguments)
    case "watch": return try watch(store, arguments)
    default: return try dictionary(store, arguments)
    }
  }

  /// Opens a file or a database to look at it.
  func open(_ operand: String, _ arguments: Arguments) throws -> any DataStore {
    let schemas = arguments.all("--schema")
    if DataServer.isAddress(operand) { return try DataServer.open(operand, schemas: schemas) }
    return try DataFile.open(operand, schemas: schemas)
  }

  /// A file or a database to store objects in.
  func target(_ operand: String) throws -> StoreTarget {
    DataServer.isAddress(operand) ? try .server(operand) : .file(operand)
  }

  /// What to use for a database on a server instead of the verbs that are for files.
  private static let insteadOnServers = [
    "repair": "restore a dump, or a standby",
    "backup": "use pg_dump, or pg_basebackup",
    "restore": "use pg_restore",
    "vacuum": "the server does it by itself, and VACUUM when it is told to",
  ]

  private static func refusal(of verb: Verb) -> UsageError {
    UsageError(
      message: "'\(verb.name)' works on files, and not on servers",
      hint: insteadOnServers[verb.name])
  }

  private func completions(_ shell: String, _ arguments: Arguments) throws -> Int32 {
    guard let script = Completions.script(for: shell) else {
      throw UsageError(
        message: "there are no completions for '\(shell)'",
        hint: "there are \(Completions.shells.joined(separator: ", "))")
    }
    if arguments.has("--json") {
      try printJSON(["shell": shell, "script": script])
    } else {
      try output(Data(script.utf8))
    }
    return Status.good
  }

  // MARK: Output

  /// Prints lines for people. What comes of a file does nothing to the terminal.
  func print(_ text: String) throws {
    try output(Data((TextTable.plain(text, keepsLines: true) + "\n").utf8))
  }

  /// Prints a text that programs may read as it is; for people, if there is a terminal.
  func printText(_ text: String) throws {
    let shown = terminal.width == nil ? text : TextTable.plain(text, keepsLines: true)
    try output(Data(shown.utf8))
  }

  func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    try output(try encoder.encode(value) + Data("\n".utf8))
  }

  /// One of many values, on a line.
  func printLine(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    try output(try encoder.encode(value) + Data("\n".utf8))
  }

  func print(_ table: TextTable) throws {
    try output(Data(table.text(width: terminal.width).utf8))
  }
}

/// An error as JSON.
private struct FailureJSON: Encodable {
  let error: String
  let status: Int32

  /// A line of JSON, in which nothing is left that a terminal takes for a command.
  var line: String {
    let shown = FailureJSON(error: TextTable.plain(error, keepsLines: true), status: status)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A text and a number have a form in JSON.
    let data = (try? encoder.encode(shown)) ?? Data()
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
