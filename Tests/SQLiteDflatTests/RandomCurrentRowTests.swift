// Random schedules of fetches and changes, with a second workspace on the file, beside a model.
//
// Objects are kept for long and are changed and deleted as they were fetched. Whether one is looked
// up or taken for current must make no difference.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Rows known to be current, in random schedules")
struct RandomCurrentRowTests {
  /// What is stored, by row id.
  private struct Model {
    var likes: [Int64: Int32] = [:]
    var numbers: [Int64: Int32] = [:]

    func id(of number: Int32) -> Int64? { numbers.first { $0.value == number }?.key }

    mutating func remove(_ id: Int64) {
      likes[id] = nil
      numbers[id] = nil
    }
  }

  /// One change of a transaction.
  private enum Change {
    /// Of an object as it was fetched at some time.
    case like(Post), remove(Post)
    /// A new object.
    case insert(Int32)
  }

  private static let numbers: Range<Int32> = 0..<12

  @Test("Objects of any age are changed as they are stored", arguments: [3, 1 << 15])
  func model(mostRecentChanges: Int) throws {
    try withSeed { random in
      try withTemporaryFile { file in
        try run(file, mostRecentChanges, &random)
      }
    }
  }

  private func run(
    _ file: TemporaryFile, _ most: Int, _ random: inout SeededGenerator
  ) throws {
    let seed = random.seed
    func reopened() -> TemporaryFile {
      let workspace = TemporaryFile(path: file.path)
      workspace.dflat._core.mostRecentChanges = most
      return workspace
    }
    var model = Model()
    for post in try file.store(Self.numbers.map { post($0) }) {
      model.likes[post._rowid] = 0
      model.numbers[post._rowid] = post.number
    }
    var (one, other) = (reopened(), reopened())
    var held: [Post] = []
    for step in 0..<(isLongRun ? 6000 : 500) {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<5: held += fetch(one, &random)
      case 5..<14: try change(one, held, &model, &random)
      case 14..<16: try together(one, held, &model, &random)
      case 16..<18: try change(other, held, &model, &random)
      case 18: held = held.filter { _ in random.oneIn(2) }
      default:
        // The objects stay: those of a workspace that is closed say nothing about this one.
        let old = one
        one = reopened()
        old.dflat.shutdown()
        if random.oneIn(2) { swap(&one, &other) }
      }
      let stored = one.posts.all()
      let likes = Dictionary(uniqueKeysWithValues: stored.map { ($0._rowid, $0.likes) })
      let numbers = Dictionary(uniqueKeysWithValues: stored.map { ($0._rowid, $0.number) })
      try #require(likes == model.likes, "DFLAT_SEED=\(seed): step \(step)")
      try #require(numbers == model.numbers, "DFLAT_SEED=\(seed): step \(step)")
      let reported = one.takeErrors() + other.takeErrors()
      try #require(reported.isEmpty, "DFLAT_SEED=\(seed): step \(step): \(reported)")
    }
    one.dflat.shutdown()
    other.dflat.shutdown()
  }

  /// Fetches objects in one of the ways that there are.
  private func fetch(_ file: TemporaryFile, _ random: inout SeededGenerator) -> [Post] {
    let number = Int32.random(in: Self.numbers, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return Array(file.posts.all())
    case 1: return Array(file.posts.where(Post.site == "s" && Post.number == number))
    case 2: return file.dflat.fetchWithinASnapshot { Array(file.posts.where(Post.number < number)) }
    default:
      var found: [Post] = []
      let outcome = try? file.write([Post.self]) { _ in Array(file.posts.where(Post.likes >= 0)) }
      found = (outcome?.result).flatMap { $0 } ?? []
      return found
    }
  }

  private func changes(
    _ held: [Post], _ model: Model, _ random: inout SeededGenerator
  ) -> [Change] {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in
      if held.isEmpty || random.oneIn(6) {
        return .insert(Int32.random(in: Self.numbers, using: &random))
      }
      let post = random.pick(held)
      return random.oneIn(6) ? .remove(post) : .like(post)
    }
  }

  /// Carries out changes in a transaction and in the model.
  private func apply(
    _ changes: [Change], _ model: inout Model, _ txn: any TransactionContext
  ) throws {
    for change in changes {
      switch change {
      case .like(let post):
        let request = Blog.PostChangeRequest.changeRequest(post)
        #expect((request == nil) == (model.likes[post._rowid] == nil))
        guard let request else { continue }
        #expect(request.likes == model.likes[post._rowid])
        request.likes += 1
        try txn.submit(request)
        model.likes[post._rowid, default: 0] += 1
      case .remove(let post):
        let request = Blog.PostChangeRequest.deletionRequest(post)
        #expect((request == nil) == (model.likes[post._rowid] == nil))
        guard let request else { continue }
        try txn.submit(request)
        model.remove(post._rowid)
      case .insert(let number):
        if model.id(of: number) != nil { continue }
        let new = try txn.insert(Blog.PostChangeRequest.creationRequest(post(number, likes: 7)))
        model.likes[new._rowid] = 7
        model.numbers[new._rowid] = number
      }
    }
  }

  private func change(
    _ file: TemporaryFile, _ held: [Post], _ model: inout Model, _ random: inout SeededGenerator
  ) throws {
    let changes = changes(held, model, &random)
    let (aborts, reads, bystands) = (random.oneIn(6), random.oneIn(4), random.oneIn(6))
    if bystands {
      try file.write([Note.self]) { txn in
        let request = NoteChangeRequest.creationRequest()
        request.key = (file.dflat.fetch(for: Note.self).all().map(\.key).max() ?? 0) + 1
        try txn.submit(request)
      }
    }
    let before = model
    let outcome = try file.write([Post.self]) { txn -> Model in
      var changed = before
      if reads { _ = file.posts.where(Post.likes > 3) }
      try self.apply(changes, &changed, txn)
      if aborts { txn.abort() }
      return changed
    }
    #expect(outcome.isCommitted != aborts)
    if let result = outcome.result, !aborts { model = result }
  }

  /// Several transactions that share a commit.
  private func together(
    _ file: TemporaryFile, _ held: [Post], _ model: inout Model, _ random: inout SeededGenerator
  ) throws {
    let changes = (0..<4).map { _ in self.changes(held, model, &random) }
    let aborts = (0..<4).map { _ in random.oneIn(5) }
    let state = Log<Model>()
    state.add(model)
    file.together(4) { number, txn in
      var changed = state.events.last ?? Model()
      do { try self.apply(changes[number], &changed, txn) } catch { Issue.record(error) }
      if aborts[number] { txn.abort() } else { state.add(changed) }
    }
    if let last = state.events.last { model = last }
  }
}
