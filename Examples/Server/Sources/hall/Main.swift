// hall [--into DIRECTORY]: the posts of make demo on a server, its packages, which move there from a
// file, and then four processes that sell the seats of one hall.
//
// hall --sell URL NAME: what the demo starts as processes of their own.
//
// POSTGRES_URL names an existing database; otherwise the demo starts a server of its own with a
// standby, which takes over when the server is killed in the middle.

import Foundation
import PackageStore
import PostgresDflat

@main struct Main {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.count == 3, arguments[0] == "--sell" {
        return try await Booths.sell(url: arguments[1], name: arguments[2])
      }
      guard arguments.isEmpty || (arguments.count == 2 && arguments[0] == "--into") else {
        throw Failure("usage: hall [--into DIRECTORY]")
      }
      let directory =
        arguments.last.map { URL(filePath: $0) }
        ?? URL.temporaryDirectory.appending(path: "dflat-hall-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      let existing = ProcessInfo.processInfo.environment["POSTGRES_URL"] ?? ""
      let server = existing.isEmpty ? try Server() : nil
      let url = server?.url ?? existing

      print("# Thirty seconds: five posts on a server\n")
      try await removeEarlierObjects(url)
      try await thirtySeconds(url: url)

      print("\n# From a file to the server\n")
      try await move(to: url, from: directory.appending(path: "packages.db").path)

      print("\n# Four booths sell the seats of one hall\n")
      try await Booths.run(url: url, server)
    } catch {
      FileHandle.standardError.write(Data("hall: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// The settings of all workspaces of the demo on a server.
var serverSettings: PostgresWorkspace.Configuration {
  var settings = PostgresWorkspace.Configuration()
  settings.schema = "dflat_demo"
  // Longer than a standby takes until it accepts transactions.
  settings.reconnectTimeout = .seconds(60)
  settings.onError = { FileHandle.standardError.write(Data("hall: \($0)\n".utf8)) }
  return settings
}
