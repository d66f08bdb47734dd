// The command line of both programs: [--into DIRECTORY] [--serve] [--record DIRECTORY].

import DflatGraphQL
public import Foundation

/// What the command line asks for.
public struct Arguments {
  /// Where the database is.
  public private(set) var directory = FileManager.default.temporaryDirectory.appending(
    path: "dflat-starwars")
  private var serves = false
  private var record: URL?

  /// Reads the process's own command line.
  /// - Throws: `Failure` for anything else than the options.
  public init() throws {
    var words = CommandLine.arguments.dropFirst()
    while let word = words.popFirst() {
      switch word {
      case "--into": directory = try Self.path(&words)
      case "--serve": serves = true
      case "--record":
        serves = true
        record = try Self.path(&words)
      default: throw Self.usage
      }
    }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  private static func path(_ words: inout ArraySlice<String>) throws -> URL {
    guard let path = words.popFirst() else { throw usage }
    return URL(filePath: path, directoryHint: .isDirectory)
  }

  private static let usage = Failure("usage: [--into DIRECTORY] [--serve] [--record DIRECTORY]")

  /// The database's file.
  public var file: URL { directory.appending(path: "starwars.db") }

  /// The service to ask: recorded answers, unless a server is wanted.
  public func service(recorded: URL) throws -> any Service {
    guard serves else {
      print("(Answers were recorded; SERVER=1 asks a server.)\n")
      return RecordedService(recorded)
    }
    let server = try ExampleServer()
    print("(Answers come from \(server.url).)\n")
    return RunningServer(server: server, remote: RemoteService(server.url, record: record))
  }
}

/// Keeps the server running as long as it is asked.
private struct RunningServer: Service {
  let server: ExampleServer
  let remote: RemoteService

  func answer<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> Foundation.Data {
    try await remote.answer(operation)
  }
}
