// One file and two versions of a program: article.fbs and article_next.fbs contain every allowed
// difference.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Schemas that change")
struct EvolutionTests {
  private typealias Old = Press.Article
  private typealias New = PRESS.Article

  // MARK: Across versions

  // MARK: Opening

  /// Contents and times of everything in a directory, which must not change.
  private func listing(_ directory: String) throws -> [String: String] {
    var listing: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      var info = stat()
      stat(path, &info)
      // SQLite's empty log and the shared memory file are irrelevant.
      if data.isEmpty || name.hasSuffix("-shm") { continue }
      #if canImport(Darwin)
        let time = info.st_mtimespec
      #else
        let time = info.st_mtim
      #endif
      listing[name] = "\(time.tv_sec).\(time.tv_nsec) \(data.count) \(data.hashValue)"
    }
    return listing
  }

  private func storeOld(_ path: String) throws {
    let workspace = TemporaryFile(path: path)
    try workspace.write([Old.self]) { txn in
      for number in 0..<50 as Range<Int32> {
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(
            Old(slug: "\(number)", title: "t", code: number, votes: number)))
      }
    }
    workspace.dflat.shutdown()
    #expect(workspace.takeErrors().isEmpty)
  }

  private func readNew(_ workspace: TemporaryFile) {
    let articles = workspace.dflat.fetch(for: New.self)
    #expect(articles.all().count == 50)
    #expect(articles.where(New.slug == "7").map(\.rank) == [7])
    #expect(articles.where(New.votes == 3, orderBy: [New.votes.descending]).count == 1)
    #expect(workspace.dflat.fetch(for: Old.self).where(Old.rank == 5).count == 50)
    workspace.dflat.fetchWithinASnapshot { #expect(articles.where(New.isOpen).isEmpty) }
    #expect(workspace.dflat.dictionary["none", Int.self] == nil)
  }

  @Test("Opening and reading with a new version writes nothing")
  func openingWritesNothing() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try storeOld("\(directory)/test.db")
    let before = try listing(directory)
    #expect(before.keys.sorted() == ["test.db"])
    for isReadOnly in [false, true] {
      let workspace = TemporaryFile(path: "\(directory)/test.db") {
        $0.isReadOnly = isReadOnly
      }
      readNew(workspace)
      #expect(try listing(directory) == before)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
      #expect(try listing(directory) == before)
    }
  }

  @Test(
    "Where nothing can be written, a new version reads everything, also by missing indexes",
    arguments: ReadOnlyTests.Barrier.available)
  func openingBehindBarrier(barrier: ReadOnlyTests.Barrier) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try storeOld("\(directory)/test.db")
    let before = try listing(directory)
    let isHeld: Void? = try barrier.hold(directory) { () throws -> Void in
      let workspace = TemporaryFile(path: "\(directory)/test.db") { $0.isReadOnly = true }
      readNew(workspace)
      let articles = workspace.dflat.fetch(for: New.self)
      #expect(articles.where(New.rank == 7).count == 50)
      #expect(articles.where(New.headline == "t" && New.score.isNull).count == 50)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
      #expect(try listing(directory) == before)
    }
    #expect(isHeld != nil)
  }

  // MARK: Versions

  @Test("Another v is another table; the old one stays readable and writable through the old type")
  func versions() throws {
    try withTemporaryFile { workspace in
      #expect(Mail.Dispatch._schema.table == "mail__dispatch_v3_1")
      #expect(MAIL.Dispatch._schema.table == "mail__dispatch_v4")
      #expect(Mail.Dispatch.flatBuffersSchemaVersion == "3.1")
      try workspace.write([Mail.Dispatch.self]) { txn in
        try txn.submit(
          Mail.DispatchChangeRequest.creationRequest(
            Mail.Dispatch(id: "a", sheet: 1, text: "old", words: 1)))
      }
      #expect(workspace.dflat.fetch(for: MAIL.Dispatch.self).all().isEmpty)
      #expect(
        try workspace.sqlite3("SELECT count(*) FROM sqlite_master WHERE name LIKE '%v4%'") == "0",
        "a table comes into being with the first object")
      try workspace.write([MAIL.Dispatch.self]) { txn in
        try txn.submit(
          MAIL.DispatchChangeRequest.creationRequest(MAIL.Dispatch(id: "a", text: "new", words: 2)))
      }
      #expect(workspace.dflat.fetch(for: Mail.Dispatch.self).all().map(\.text) == ["old"])
      #expect(workspace.dflat.fetch(for: MAIL.Dispatch.self).all().map(\.text) == ["new"])
      try workspace.write([Mail.Dispatch.self]) { txn in
        let request = try #require(
          Mail.DispatchChangeRequest.changeRequest(Mail.Dispatch(id: "a", sheet: 1)))
        request.words = 9
        try txn.submit(request)
      }
      let old = workspace.dflat.fetch(for: Mail.Dispatch.self)
      #expect(old.where(Mail.Dispatch.words == 9).count == 1)
      #expect(
        workspace.dflat.fetch(for: MAIL.Dispatch.self).where(MAIL.Dispatch.words == 2).count == 1)
    }
  }
}
