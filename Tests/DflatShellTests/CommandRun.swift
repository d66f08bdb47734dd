// Running the command, in the test's process and as a program.

import DflatTestSupport
import DflatTools
import Dispatch
import Foundation
import Platform
import PostgresTestSupport
import SQLiteDflat
import Testing

@testable import DflatShell

/// What a command line gives.
struct CommandResult {
  var status: Int32
  var output: String
  var errors: String
}

/// Collects what a command writes.
private final class Sink {
  var output = Data()
  var errors = ""
}

/// Runs a command line in this process.
/// - Parameters:
///   - arguments: The arguments without the program's name.
///   - width: The width of the terminal; nil for none.
///   - answer: What a person answers; nil if no person can be asked.
///   - input: Standard input.
///   - stopped: Whether the person has interrupted the command already.
///   - activity: Where the terminal shows how far something is; nil for nowhere.
func run(
  _ arguments: [String], width: Int? = nil, answer: String? = nil, input: String = "",
  stopped: Bool = false, activity: ActivityLine? = nil
) -> CommandResult {
  let sink = Sink()
  var rest = Data(input.utf8)
  let stop = StopSignal()
  if stopped { stop.stop() }
  let command = ShellCommand(
    terminal: Terminal(width: width, canAsk: answer != nil, activity: activity),
    output: { sink.output.append($0) }, errors: { sink.errors += $0 }, input: { answer },
    standardInput: {
      defer { rest = Data() }
      return rest
    }, stop: stop)
  let status = command.run(arguments)
  return CommandResult(
    status: status, output: String(decoding: sink.output, as: UTF8.self), errors: sink.errors)
}

/// Calls `body` with a file that has three posts and two values in its dictionary.
func withBlog<R>(_ body: (TemporaryFile) throws -> R) throws -> R {
  try withTemporaryFile { file in
    try file.store([
      post(1, likes: 11, photo: "p"), post(2, likes: 40, link: "https://a"),
      Blog.Post(
        site: "notes", number: 1, status: .draft,
        author: Blog.Author(handle: "ada", name: "Ada"), tags: ["a", "b"]),
    ])
    try file.dflat.write { context in
      var dictionary = context.dictionary
      dictionary["theme"] = "dark"
      dictionary["size"] = 12
    }
    return try body(file)
  }
}

/// The schema of the posts.
let blogSchema = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .appending(path: "DflatTestSupport/Schemas/blog.fbs").path

/// The built program, running.
final class RunningCommand {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private let input = Pipe()
  private var lines = Data()

  /// The program as it was built together with the tests.
  static var program: URL {
    var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while !FileManager.default.isExecutableFile(atPath: folder.appending(path: "dflat").path),
      folder.pathComponents.count > 1
    { folder = folder.deletingLastPathComponent() }
    return folder.appending(path: "dflat")
  }

  /// - Parameter hasRights: Whether the program has all rights of this process. Otherwise it runs
  ///   as a user without any, if this process is the superuser's.
  init(_ arguments: [String], hasRights: Bool = true) throws {
    let isPlain = hasRights || getuid() != 0
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    process.executableURL = isPlain ? Self.program : URL(filePath: "/usr/bin/env")
    process.arguments = isPlain ? arguments : nobody + [Self.program.path] + arguments
    try start()
  }

  /// - Parameter script: What a shell runs; `$0` is the program.
  init(script: String) throws {
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script, Self.program.path]
    try start()
  }

  private func start() throws {
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input
    try process.run()
  }

  /// The next bytes of standard error.
  func nextError() -> String {
    String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// The next line of standard output; nil at its end.
  func nextLine() -> String? {
    while true {
      if let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
        defer { lines = Data(lines[(end + 1)...]) }
        return String(decoding: lines[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      lines.append(more)
    }
  }

  /// Gives the program its standard input, to the end.
  func write(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
  }

  func interrupt() { process.interrupt() }

  /// Interrupts it again and again, without reading what it prints.
  func interruptUntilItEnds() {
    let end = ContinuousClock.now + .seconds(600)
    while process.isRunning, .now < end {
      process.interrupt()
      usleep(20_000)
    }
  }

  /// Waits for the end.
  func end() -> CommandResult {
    let rest = lines + output.fileHandleForReading.readDataToEndOfFile()
    let messages = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return CommandResult(
      status: process.terminationStatus, output: String(decoding: rest, as: UTF8.self),
      errors: String(decoding: messages, as: UTF8.self))
  }
}

/// The files that the examples of the help name. No program has them open.
struct ExampleFolder {
  private let folder: String
  /// The PostgreSQL schema of the examples on a server.
  let schema = "test_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)

  init(_ file: TemporaryFile) throws {
    folder = file.path + ".folder"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, format) in [("posts.jsonl", "jsonl"), ("posts.csv", "csv")] {
      let made = run(
        ["export", file.path, "Post", "--format", format, "--output", "\(folder)/\(name)"])
      #expect(made.status == 0, "\(made.errors)")
    }
    try FileManager.default.copyItem(atPath: blogSchema, toPath: "\(folder)/post.fbs")
    for name in ["blog.db", "backup.db"] {
      let backup = run(["backup", file.path, "\(folder)/\(name)"])
      #expect(backup.status == 0, "\(backup.errors)")
    }
  }

  /// The path of a file that an example names; other words as they are. The address of a server is
  /// that of the tests' own, with an address of a PostgreSQL schema that no other test uses.
  func path(_ word: String) throws -> String {
    if word.hasPrefix("postgresql://") { return try TestCluster.shared().url + "#\(schema)" }
    let isFile = [".db", ".jsonl", ".csv", ".fbs", "/"].contains { word.hasSuffix($0) }
    return isFile ? "\(folder)/\(word)" : word
  }
}
