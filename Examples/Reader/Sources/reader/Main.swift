// reader [--into DIRECTORY] [--articles NUMBER] [FILE or FOLDER …]: the store of a feed reader.
//
// It imports feeds, adds as many made-up articles as a busy reader collects, and does what such an
// application does all day.

import Foundation
import SQLiteDflat

@main struct Main {
  static func main() async {
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      try FileManager.default.createDirectory(
        at: arguments.directory, withIntermediateDirectories: true)
      let path = try arguments.freshFile("reader.db").path
      let dflat = try await SQLiteWorkspace.open(URL(filePath: path))
      defer { dflat.shutdown() }

      print("# What feeds say\n")
      try await importFeeds(arguments.feeds, into: dflat)
      print("\n# A busy year\n")
      try await generate(arguments.articles, into: dflat)
      print("\n# A day of reading\n")
      try await read(dflat, firstScreen: arguments.freshFile("first-screen"))
      print("\n# Keeping house\n")
      try await keepHouse(dflat)
    } catch {
      FileHandle.standardError.write(Data("reader: \(error)\n".utf8))
      exit(1)
    }
  }
}

/// What the command line asks for.
private struct Arguments {
  var directory = FileManager.default.temporaryDirectory.appending(
    path: "dflat-reader-\(UUID().uuidString)")
  var articles = 100_000
  var feeds: [URL] = []

  init(_ words: some Sequence<String>) throws {
    var words = Array(words)[...]
    while let word = words.popFirst() {
      switch word {
      case "--into":
        guard let path = words.popFirst() else { throw Self.usage }
        directory = URL(filePath: path)
      case "--articles":
        guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else {
          throw Self.usage
        }
        articles = number
      default:
        if word.hasPrefix("-") { throw Self.usage }
        feeds.append(URL(filePath: word))
      }
    }
  }

  private static let usage = Failure(
    "usage: reader [--into DIRECTORY] [--articles NUMBER] [FILE or FOLDER of feeds …]")

  /// A file that no earlier run has left.
  func freshFile(_ name: String) throws -> URL {
    let file = directory.appending(path: name)
    for suffix in ["", "-wal", "-shm"] {
      let path = file.path + suffix
      if FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    }
    return file
  }
}

/// Ends the program with a message.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
