// Changes of many objects, and deletions with the rules of relations, on disks whose calls fail:
// an object that could not be read must not be left out.

import Dflat
import DflatTestSupport
import DflatVerification
import Foundation
import SQLiteDflat
import Testing

@Suite("Rules of relations and bulk changes on failing disks")
struct RelationFaultTests {
  private typealias Writer = Guild.Writer
  private typealias Story = Guild.Story
  private typealias Label = Guild.Label

  private static let text = String(repeating: "t", count: 300)

  private static func story(_ number: Int) -> Story {
    let next = number + 1
    let parent: Int64? = number < 12 ? nil : Int64(number - 12)
    return Story(
      id: Int64(number), title: text, likes: Int32(number), writer: "w\(number % 6)",
      editor: "w\(next % 6)", labels: ["l\(number % 4)", "l\(next % 4)"], parent: parent)
  }

  private static func store(in file: TemporaryFile) throws {
    try file.dflat.write(Writer.self, Story.self, Label.self) { txn in
      let writers = (0..<6).map {
        Writer(handle: "w\($0)", name: text, mentor: $0 > 0 ? "w\($0 - 1)" : nil)
      }
      try txn.insert(contentsOf: writers)
      let labels = (0..<4).map { (number: Int32) in Label(name: "l\(number)", rank: number) }
      try txn.insert(contentsOf: labels)
      try txn.insert(contentsOf: (0..<60).map(story))
    }
  }

  private static func change(_ file: TemporaryFile) throws -> Bool {
    do {
      try file.dflat.write(Writer.self, Story.self, Label.self) { txn in
        // Deletes the stories of the writer with all replies, and the writer where it is an editor.
        try txn.delete(Writer.self, keys: ["w2"])
        try txn.delete(where: Label.rank == 1)
        try txn.update(where: Story.likes >= 30) { $0.likes += 100 }
        try txn.upsert(contentsOf: (0..<8).map { Label(name: "l\($0)", rank: 50 + $0) })
        try txn.delete(where: Writer.handle == "w4")
      }
      return true
    } catch { return false }
  }

  /// All objects as texts.
  private static func contents(of file: TemporaryFile) -> [String] {
    let writers = file.dflat.fetch(for: Writer.self).all().map { "\($0)" }
    let stories = file.dflat.fetch(for: Story.self).all().map { "\($0)" }
    let labels = file.dflat.fetch(for: Label.self).all().map { "\($0)" }
    return (writers + stories + labels).sorted()
  }

  @Test("Some call fails: all objects are changed, or none")
  func failing() throws {
    try withTemporaryDirectory { directory in
      let template = "\(directory)/template.db"
      let first = TemporaryFile(path: template)
      try Self.store(in: first)
      let before = Self.contents(of: first)
      first.dflat.shutdown(flags: .truncate)
      try FileManager.default.copyItem(atPath: template, toPath: directory + "/changed.db")
      let changed = TemporaryFile(path: directory + "/changed.db")
      try #require(try Self.change(changed))
      let after = Self.contents(of: changed)
      try #require(after.count < before.count && !after.contains { $0.contains("\"w2\"") })
      let calls = FailingCalls(
        template, in: directory, stride: isLongRun ? 1 : 17, cacheSize: 16 << 10)
      try calls.run {
        try Self.change($0)
      } check: { file, isCommitted, call in
        #expect(Self.contents(of: file) == (isCommitted ? after : before), call)
      }
    }
  }
}
