// Drafts of objects that several programs change.

import DflatTestSupport
import Foundation
import Platform
import Testing

@testable import DflatTools

@Suite("Drafts")
struct DraftTests {
  @Test("Of two drafts of one object, committed at the same time, one is stored", .endsSometime)
  func race() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    let made = TemporaryFile(path: path)
    try made.store([post(1, likes: 0)])
    made.dflat.shutdown()
    let files = try (0..<2).map { _ in try DataFile.openForChanges(path) }
    defer { for file in files { file.close() } }
    let key = try #require(try files[0].query("Post").objects.first).key
    for round in 1...100 {
      let drafts = try files.enumerated().map { index, file in
        let type = try file.type(named: "Post")
        let stored = try #require(try file.object(of: type, key: key))
        let json = String(decoding: try stored.json(), as: UTF8.self)
        let mine = json.replacing(#/"likes" ?: ?-?\d+/#, with: "\"likes\":\(2 * round + index)")
        return try file.draft(of: type, json: Data(mine.utf8))
      }
      let stored = Atomic(0)
      let group = DispatchGroup()
      for (file, draft) in zip(files, drafts) {
        onOwnThread(in: group) {
          do {
            try file.commit(draft, replacing: draft.stored?.version)
            stored.add(1, ordering: .relaxed)
          } catch is DraftConflict {} catch { Issue.record(error) }
        }
      }
      group.wait()
      #expect(stored.load(ordering: .relaxed) == 1, "round \(round)")
    }
  }
}
