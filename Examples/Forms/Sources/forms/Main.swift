// forms [--into DIRECTORY]: Silo at work, from values without a store to uploads that survive a crash.
//
// forms --upload DIRECTORY PORT [CRASH]: what the demo starts as a process of its own: it sends what
// waits, and kills itself after CRASH answers.

import Foundation
import SQLiteDflat
import Silo

struct Failure: Error, CustomStringConvertible {
  let description: String
}

@main struct Main {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.first == "--upload", arguments.count >= 3, let port = Int(arguments[2]) {
        return try await Uploading.run(
          in: URL(filePath: arguments[1]), port: port,
          crash: arguments.dropFirst(3).first.flatMap(Int.init))
      }
      guard arguments.isEmpty || (arguments.count == 2 && arguments[0] == "--into") else {
        throw Failure(description: "usage: forms [--into DIRECTORY]")
      }
      let directory =
        arguments.last.map { URL(filePath: $0) }
        ?? URL.temporaryDirectory.appending(path: "forms-\(UUID())")
      try? FileManager.default.removeItem(at: directory)
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      print("# One line for each store\n")
      try await Steps.run(in: directory)
      print("\n# A new version\n")
      try await versions(in: directory)
      print("\n# Offline first\n")
      try await Uploading.demo(in: directory)
    } catch {
      FileHandle.standardError.write(Data("forms: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Version 1 becomes version 2.
  private static func versions(in directory: URL) async throws {
    try Form.migrations.check()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Fixtures/forms_v1.txt")
    try expectFixture(Form.fixture, at: fixture)
    print("version 1 is written and read as when its fixture was made; the steps lead to version 2")
    let path = directory.appending(path: "old.db").path(percentEncoded: false)
    try await Silos(in: SQLiteWorkspace(filePath: path))[Form.V1.self].save(Form.fixture)
    let forms = Silos(in: SQLiteWorkspace(filePath: path))[Form.self]
    let values = try await timed {
      try await forms.values()
    } report: {
      "a file of version 1 was opened by the program of version 2; \($0.count) form was migrated"
    }
    for form in values {
      let questions = form.questions.map { "\($0.text) (\($0.kind.rawValue))" }
      print("form \(form.id), stored as version 1, is now: \(questions.joined(separator: ", "))")
    }
  }
}
