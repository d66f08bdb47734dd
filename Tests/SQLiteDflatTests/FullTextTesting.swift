// Stories in a file, and what its full-text table has of them.

import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import Dflat

/// Tests of the full-text table of `Tale.Story`.
protocol FullTextTesting {}

extension FullTextTesting {
  typealias Story = Tale.Story

  /// The table of the objects.
  var main: String { "tale__story_v1" }
  /// The full-text table.
  var words: String {
    "tale__story_v1__fulltext__unicode61__x__f6__x__f8__x__f10__f4__x__f14__u1__f4__x__f16"
  }

  func story(_ id: Int32, _ title: String, _ body: String? = nil) -> Story {
    Story(id: id, title: title, body: body, year: id)
  }

  /// Runs a transaction, which must be committed.
  func commit(
    _ types: [Any.Type] = [Story.self], in file: TemporaryFile,
    _ body: @escaping (any TransactionContext) throws -> Void
  ) throws {
    let outcome = try file.write(types, body)
    if !outcome.isCommitted { throw NotCommitted(errors: file.takeErrors()) }
  }

  func store(_ stories: [Story], in file: TemporaryFile) throws {
    try commit(in: file) { txn in
      for story in stories { try txn.submit(Tale.StoryChangeRequest.creationRequest(story)) }
    }
  }

  func update(
    _ id: Int32, in file: TemporaryFile, _ change: @escaping (Tale.StoryChangeRequest) -> Void
  ) throws {
    try commit(in: file) { txn in
      let story = try #require(file.dflat.fetch(for: Story.self).where(Story.id == id).first)
      let request = try #require(Tale.StoryChangeRequest.changeRequest(story))
      change(request)
      try txn.submit(request)
    }
  }

  func delete(_ id: Int32, in file: TemporaryFile) throws {
    try commit(in: file) { txn in
      let story = try #require(file.dflat.fetch(for: Story.self).where(Story.id == id).first)
      try txn.submit(try #require(Tale.StoryChangeRequest.deletionRequest(story)))
    }
  }

  func found(_ file: TemporaryFile, _ text: String) -> [Int32] {
    file.dflat.fetch(for: Story.self).where(Story.search(text)).map(\.id)
  }

  func explain(_ file: TemporaryFile, _ text: String) throws -> QueryExplanation {
    try file.dflat.fetch(for: Story.self).explain(where: Story.search(text))
  }

  func isUsed(_ file: TemporaryFile) throws -> Bool {
    try explain(file, "a").indexes == [words]
  }

  func waitForStep(_ file: TemporaryFile) throws { try file.write([Story.self]) { _ in } }

  /// The faults of the table: words that an object does not have, or lacks.
  func faults(_ file: TemporaryFile, in table: String? = nil) throws -> [String] {
    let table = table ?? words
    let connection = try file.foreignConnection()
    defer { try? connection.close() }
    try connection.execute(
      "CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', '\(table)', 'instance')")
    var stored: [Int64: [String]] = [:]
    for row in try connection.rows("SELECT doc, col, offset, term FROM v") {
      stored[row[0].integer ?? 0, default: []].append(
        "\(row[1].text ?? "") \(row[2].integer ?? 0) \(row[3].text ?? "")")
    }
    try connection.execute("INSERT INTO \"\(table)\" (\"\(table)\") VALUES ('integrity-check')")
    var faults: [String] = []
    for story in file.dflat.fetch(for: Story.self).all() {
      var expected: [String] = []
      for column in Story._schema.fullText?.columns ?? [] {
        story._row.read { row in
          guard case .text(let text) = column.reader.read(row) else { return }
          SearchTokenizer.unicode61.forEachToken(in: text) { token, number, _ in
            expected.append("\(column.name) \(number) \(String(decoding: token, as: UTF8.self))")
            return true
          }
        }
      }
      let own = stored.removeValue(forKey: story._rowid) ?? []
      if own.sorted() != expected.sorted() {
        faults.append("row \(story._rowid) has \(own), not \(expected)")
      }
    }
    return faults + stored.keys.map { "row \($0) is of no object" }
  }
}
