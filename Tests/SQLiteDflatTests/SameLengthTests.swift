// Updates that keep the length of a row: several of them, one after the other, are made without a
// statement.

import Dflat
import DflatTestSupport
import Platform
import SQLiteDflat
import Testing

@Suite("Updates that keep the length of a row")
struct SameLengthTests {
  /// What a transaction may do to a post. The first two keep the length, and change no index.
  private enum Step: CaseIterable {
    case move, archive, name, like, show, remove, insert, look
  }

  private struct Plan {
    let isAborted: Bool
    let steps: [(step: Step, number: Int, value: Int32)]

    init(_ posts: Int, _ random: inout SeededGenerator) {
      isAborted = random.oneIn(3)
      var steps: [(step: Step, number: Int, value: Int32)] = []
      for _ in 0..<random.pick([0, 1, 2, 4]) {
        let inPlace = random.oneIn(4) ? Step.archive : .move
        for _ in 0..<random.pick([3, 8, 20]) {
          let step = random.oneIn(12) ? random.pick(Step.allCases) : inPlace
          let number = Int.random(in: 0..<posts, using: &random)
          steps.append((step, number, Int32.random(in: 1...9, using: &random)))
        }
      }
      self.steps = steps
    }
  }

  private func stored(_ number: Int) -> Post {
    Post(
      site: "s", number: Int32(number), status: .draft, likes: 1,
      place: Blog.Place(lat: 1, lon: 1))
  }

  private func carryOut(
    _ plan: Plan, on posts: inout [Post?], _ file: TemporaryFile, _ txn: any TransactionContext
  ) throws {
    for (step, number, value) in plan.steps {
      let old = posts[number]
      if step == .look {
        #expect(file.posts.all().sorted { $0.number < $1.number } == posts.compactMap { $0 })
        continue
      }
      if step == .insert {
        if old != nil { continue }
        let request = Blog.PostChangeRequest.creationRequest(stored(number))
        guard case .inserted(let post) = try txn.submit(request) else { throw Unexpected() }
        posts[number] = post
        continue
      }
      guard let old else { continue }
      if step == .remove {
        let request = try #require(Blog.PostChangeRequest.deletionRequest(old))
        try txn.submit(request)
        posts[number] = nil
        continue
      }
      let request = try #require(Blog.PostChangeRequest.changeRequest(old))
      switch step {
      case .move: request.place = Blog.Place(lat: Double(value), lon: old.place?.lat ?? 0)
      case .archive: request.status = old.status == .draft ? .archived : .draft
      case .name:
        let name = String(repeating: "n", count: Int(value))
        request.author = Blog.Author(handle: "h", name: name)
      case .like: request.likes = value
      default: request.attachment = .photo(Blog.Photo(path: "p\(number)-\(value)"))
      }
      switch try txn.submit(request) {
      case .updated(let post), .identity(let post): posts[number] = post
      default: throw Unexpected()
      }
    }
  }

  private struct Unexpected: Error {}

  @Test("Runs of them between other changes, and beside transactions that are undone, are stored")
  func model() throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 400 : 20) {
        try withTemporaryFile { file in
          let seed = random.seed
          let count = random.pick([1, 5, 40])
          let model = Mutex(try file.store((0..<count).map { stored($0) }).map { $0 as Post? })
          let plans = (0..<8).map { _ in Plan(count, &random) }
          file.together(plans.count) { member, txn in
            var posts = model.withLock { $0 }
            do { try carryOut(plans[member], on: &posts, file, txn) } catch {
              Issue.record("DFLAT_SEED=\(seed): \(error)")
            }
            if plans[member].isAborted { txn.abort() } else { model.withLock { $0 = posts } }
          } _: { member, isCommitted in
            #expect(isCommitted != plans[member].isAborted)
          }
          let found = file.posts.all().sorted { $0.number < $1.number }
          let expected = model.withLock { $0 }.compactMap { $0 }
          #expect(found == expected, "DFLAT_SEED=\(seed)")
          let faults = try file.faults()
          #expect(faults == [])
        }
      }
    }
  }

  @Test("Another program's trigger sees each of them")
  func triggers() throws {
    try withTemporaryFile { file in
      try file.store((0..<20).map { stored($0) })
      try file.tamper(
        "CREATE TABLE seen (id); CREATE TRIGGER noted AFTER UPDATE ON blog__post_v1_0 "
          + "BEGIN INSERT INTO seen VALUES (new.rowid); END")
      try file.dflat.write(Post.self) { txn in
        try txn.update(where: Post.number >= 0) { $0.place = Blog.Place(lat: 2, lon: 2) }
      }
      #expect(try file.sqlite3("SELECT count(*) FROM seen") == "20")
    }
  }
}
