// CommandArguments: what the commands for verification are called with.

import DflatTestSupport
import Foundation

/// The arguments of a command, without its name.
public struct CommandArguments: Sendable {
  /// The command itself, for the processes that it starts.
  public let program: String
  /// What follows the command's name.
  public let words: [String]
  /// The seed of all random numbers: that of `--seed`, or a random one.
  public let seed: UInt64

  /// The arguments are not understood.
  public struct Misuse: Error, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    /// An error with its message.
    public init(_ description: String) {
      self.description = description
    }
  }

  /// Reads the arguments, of which the first one is the command.
  public init(_ arguments: [String]) {
    program = Bundle.main.executablePath ?? arguments[0]
    words = Array(arguments.dropFirst())
    seed =
      Self.option("--seed", arguments).flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
  }

  private static func option(_ name: String, _ arguments: [String]) -> String? {
    guard let position = arguments.firstIndex(of: name), position + 1 < arguments.count else {
      return nil
    }
    return arguments[position + 1]
  }

  /// The number that follows a name.
  public func number(_ name: String) -> Int? { Self.option(name, words).flatMap { Int($0) } }
}

/// Runs a command and ends the process with its status: 1 if `body` returns false.
public func exitAfter(_ name: String, _ body: () throws -> Bool) -> Never {
  do { exit(try body() ? 0 : 1) } catch {
    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
    exit(2)
  }
}

/// Runs `body` with a directory that is removed afterwards.
public func withTemporaryDirectory<R>(_ body: (String) throws -> R) throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try body(directory)
}

/// Runs `body` with a directory that is removed afterwards.
public func withTemporaryDirectory<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> sending R
) async throws -> sending R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try await body(directory)
}
