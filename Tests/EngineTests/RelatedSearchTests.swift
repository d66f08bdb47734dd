// Searches of the texts of related objects: each text is divided into words as its own type says.

import Dflat
import DflatTestSupport
import Testing

private typealias Critic = Prose.Critic
private typealias Entry = Mixed.Entry
private typealias Essay = Prose.Essay
private typealias Review = Prose.Review

@Suite("Searches of related objects")
struct RelatedSearchTests {
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Essay.self, Entry.self, Review.self, Critic.self) { txn in
      try txn.insert(contentsOf: [
        Essay(id: 1, text: "She runs fast"), Essay(id: 2, text: "He walks"),
      ])
      try txn.insert(Entry(id: 1, title: "The runs", note: "red apple", tag: "runs"))
      try txn.insert(contentsOf: [
        Review(id: 1, code: "978-4", notes: ["walking"], essay: 1, others: [2], entry: 1),
        Review(id: 2, code: "979", notes: ["walks"], essay: 2, others: [1, 7]),
        Review(id: 3, code: "run", essay: 7),
      ])
      try txn.insert(contentsOf: [Critic(id: 1, review: 1), Critic(id: 2, review: 2)])
    }
  }

  @Test("The words are those of the other object's type", arguments: TestEngine.all)
  func tokenizers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      func reviews(_ condition: some QueryExpression<Bool, Review>) throws -> [Int32] {
        try dflat.query(Review.self).where(condition).fetch().map(\.id)
      }
      func critics(_ condition: some QueryExpression<Bool, Critic>) throws -> [Int32] {
        try dflat.query(Critic.self).where(condition).fetch().map(\.id)
      }
      // Stems of whole words, although reviews have parts of words.
      #expect(try reviews(Review.essay.text.search("running")) == [1])
      #expect(try reviews(Review.essay.text.search("un")) == [])
      #expect(try reviews(!Review.essay.text.search("running")) == [2, 3])
      #expect(try reviews(Review.others.any { $0.text.search("running") }) == [2])
      // Each field of the other type has its own.
      #expect(try reviews(Review.entry.title.search("running")) == [1])
      #expect(try reviews(Review.entry.note.search("ppl")) == [1])
      #expect(try reviews(Review.entry.tag.search("running")) == [])
      #expect(try reviews(Review.code.search("78") && Review.essay.text.search("run")) == [1])
      // Critics have no texts of their own; a way of several references ends at the essay.
      #expect(try critics(Critic.review.code.search("78")) == [1])
      #expect(try critics(Critic.review.essay.text.search("walking")) == [2])
      #expect(try critics(Critic.review.notes.any { $0.search("alk") }) == [1, 2])
    }
  }
}
