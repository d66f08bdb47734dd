// The verb repair as people call it.

import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("dflat repair")
struct RepairCommandTests {
  private final class Sink {
    var output = ""
    var errors = ""
  }

  private func run(_ arguments: [String]) -> (status: Int32, output: String, errors: String) {
    let sink = Sink()
    let command = ShellCommand(
      terminal: Terminal(), output: { sink.output += String(decoding: $0, as: UTF8.self) },
      errors: { sink.errors += $0 }, input: { nil })
    return (command.run(arguments), sink.output, sink.errors)
  }

  @Test("repair shows what it has saved, and ends with 1 if something is lost")
  func repair() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, saved) = ("\(directory)/broken.db", "\(directory)/saved.db")
    let workspace = SQLiteWorkspace(filePath: broken)
    try workspace.write(Post.self) { txn in
      _ = try txn.insert(contentsOf: (1...500).map { post($0, likes: $0, link: "https://a/\($0)") })
    }
    workspace.shutdown()
    let whole = run(["repair", broken, "-o", saved])
    #expect(whole.status == 0, "\(whole)")
    #expect(whole.output.contains("Post  500    0          0         0     blog__post_v1_0"))
    #expect(whole.output.hasSuffix("keep \(broken) until the program has run with it\n"))
    #expect(run(["check", saved]).status == 0)
    let again = run(["repair", broken, "-o", saved])
    #expect(again.status == 74 && again.errors.contains("there is a file"))
    let missing = run(["repair", "\(directory)/none.db", "-o", "\(directory)/new.db"])
    #expect(missing.status == 66)
    let aimless = run(["repair", broken])
    #expect(aimless.status == 64 && aimless.errors.contains("-o NEW"))
    // A leaf with objects in the middle of the file is gone.
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: broken)))
    let leaf = try #require(
      (4..<bytes.count / 4096).first { page in
        bytes[page * 4096] == 13
          && bytes[page * 4096..<(page + 1) * 4096].contains(sequence: "https://a/200")
      })
    for index in leaf * 4096..<(leaf + 1) * 4096 { bytes[index] = 0 }
    try Data(bytes).write(to: URL(filePath: broken))
    let part = run(["repair", broken, "--output", "\(directory)/part.db"])
    #expect(part.status == 1, "\(part)")
    #expect(part.output.contains("damage: blog__post_v1_0: page \(leaf + 1) is no page of a tree"))
    #expect(part.output.contains("lost of Post: s, "))
    let result = run(["repair", broken, "-o", "\(directory)/json.db", "--json"])
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    let tables = try #require(json["tables"] as? [[String: Any]])
    let posts = try #require(tables.first { $0["name"] as? String == "Post" })
    let lost = try #require(posts["lost"] as? Int)
    #expect(lost > 0 && posts["whole"] as? Int == 500 - lost)
    #expect((posts["lostKeys"] as? [[String]])?.contains(["s", "200"]) == true)
    #expect(run(["check", "\(directory)/json.db"]).status == 0)
  }
}

extension ArraySlice<UInt8> {
  fileprivate func contains(sequence text: String) -> Bool {
    let wanted = Array(text.utf8)
    return indices.dropLast(wanted.count).contains {
      self[$0..<$0 + wanted.count].elementsEqual(wanted)
    }
  }
}
