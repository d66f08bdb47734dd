// Drafts without a workspace: what they hold, and what is decoded.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Drafts without a workspace")
struct DraftTests {
  private let original = Post(
    site: "s", number: 1, likes: 5, author: Blog.Author(handle: "h", name: "n"), tags: ["a"])

  @Test("A draft is a value whose fields are read and set under their own names")
  func values() throws {
    var draft = original.draft()
    #expect(!draft.hasChanges && draft.changedFields.isEmpty && draft.object == original)
    draft.likes += 1
    draft.tags.append("b")
    draft.isPinned = true
    draft.isPinned = false
    #expect(draft.likes == 6 && draft.tags == ["a", "b"] && draft.id == original.id)
    #expect(draft.hasChanges && draft.changedFields == ["likes", "tags"])
    #expect(draft.base == original)
    var copy = draft
    copy.change {
      $0.author = nil
      $0.status = .archived
    }
    #expect(copy.changedFields == ["status", "likes", "author", "tags"] && copy != draft)
    #expect(draft.author?.handle == "h")
    copy.discardChanges()
    #expect(copy == original.draft())
    struct Refusal: Error {}
    #expect(throws: Refusal.self) {
      try copy.change {
        $0.likes = 99
        throw Refusal()
      }
    }
    #expect(!copy.hasChanges)
  }

  @Test("Encoded drafts of other tables and damaged ones are refused")
  func refusedCoding() throws {
    var draft = original.draft()
    draft.likes = 6
    let data = try JSONEncoder().encode(draft)
    #expect(
      throws: SavedObjectsError.otherTable(expected: Note._schema.table, found: "blog__post_v1_0")
    ) { try JSONDecoder().decode(Draft<Note>.self, from: data) }
    struct Encoded: Codable {
      var table: String
      var base: Data
      var object: Data?
    }
    var encoded = try JSONDecoder().decode(Encoded.self, from: data)
    let object = try #require(encoded.object)
    var random = SeededGenerator(seed: 3)
    for count in 0..<object.count {
      encoded.object = object.prefix(count)
      let cut = try JSONEncoder().encode(encoded)
      // Whatever is accepted can be read.
      if let draft = try? JSONDecoder().decode(Draft<Post>.self, from: cut) {
        _ = draft.changedFields + [draft.object.description]
      }
      var changed = object
      changed[count] = UInt8.random(in: 0...255, using: &random)
      encoded.object = changed
      let wild = try JSONEncoder().encode(encoded)
      if let draft = try? JSONDecoder().decode(Draft<Post>.self, from: wild) {
        _ = draft.changedFields + [draft.object.description]
      }
    }
    encoded.object = Data([1, 2, 3])
    let broken = try JSONEncoder().encode(encoded)
    #expect(throws: SavedObjectsError.self) {
      try JSONDecoder().decode(Draft<Post>.self, from: broken)
    }
  }
}
