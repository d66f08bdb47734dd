// Random changes that are taken back, against a model of three dictionaries: before the changes,
// after them, and when they are taken back.

import Dflat
import DflatTestSupport
import Testing

@Suite("Changes that are taken back, and the model")
struct RandomRevertTests {
  @Test("Whatever others do meanwhile, the model predicts it", arguments: TestEngine.all)
  func reverting(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        for _ in 0..<(isLongRun ? 500 : 12) { try round(workspace, &random) }
        #expect(try workspace.faults().isEmpty)
      }
    }
  }

  private func round(_ workspace: TemporaryWorkspace, _ random: inout SeededGenerator) throws {
    let note = Comment(rawValue: "DFLAT_SEED=\(random.seed)")
    let dflat = workspace.dflat
    let before = stored(dflat)
    let mine = steps(&random)
    let changes = try dflat.write(Post.self) { txn in
      try txn.revertible { try carryOut(mine, in: txn) }
    }
    let after = stored(dflat)
    let theirs = steps(&random)
    try dflat.write(Post.self) { try carryOut(theirs, in: $0) }
    let current = stored(dflat)
    let reversal = try dflat.write(Post.self) { try $0.revert(changes) }
    let result = stored(dflat)

    let keys = Set(before.keys).union(after.keys).union(current.keys)
    var remaining: Set<Int32> = []
    for key in keys {
      let (expected, isReverted) = expect(before[key], after[key], current[key])
      #expect(result[key] == expected, note)
      if !isReverted { remaining.insert(key) }
    }
    #expect(Set(result.keys).isSubset(of: keys), note)
    #expect(
      reversal.remainders.map(\.key).sorted()
        == remaining.map { "site: \"s\", number: \($0)" }.sorted(), note)
    #expect(reversal.reverted + reversal.remainders.count == changes.count, note)
  }

  // MARK: Changes

  private enum Step: Sendable {
    case insert(Post)
    case delete(Int32)
    case deleteMany(below: Int32)
    case change(Int32, field: Int, value: Int32)
    case changeMany(from: Int32, Int32)
    case upsert(Post)
  }

  private func steps(_ random: inout SeededGenerator) -> [Step] {
    (0..<Int.random(in: 0...6, using: &random)).map { _ in
      let number = Int32.random(in: 0..<8, using: &random)
      let value = Int32.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<2: return .insert(post(number, value, &random))
      case 2: return .delete(number)
      case 3: return .deleteMany(below: Int32.random(in: 0..<3, using: &random))
      case 4: return .upsert(post(number, value, &random))
      case 5: return .changeMany(from: number, value)
      default:
        return .change(number, field: Int.random(in: 0..<6, using: &random), value: value)
      }
    }
  }

  private func post(_ number: Int32, _ value: Int32, _ random: inout SeededGenerator) -> Post {
    Post(
      site: "s", number: number, likes: value,
      author: random.oneIn(2) ? nil : Blog.Author(handle: "\(value)"),
      attachment: random.oneIn(2) ? nil : .link(Blog.Link(url: "\(value)")))
  }

  private func carryOut(_ steps: [Step], in txn: WriteContext) throws {
    for step in steps {
      switch step {
      case .insert(let post):
        if try txn.find(Post.self, ("s", post.number)) == nil { try txn.insert(post) }
      case .delete(let number): try txn.delete(DflatTestSupport.post(number))
      case .deleteMany(let number): try txn.delete(where: Post.number < number)
      case .upsert(let post): try txn.upsert(post)
      case .changeMany(let number, let value):
        try txn.update(where: Post.number >= number) { $0.likes = value }
      case .change(let number, let field, let value):
        guard let post = try txn.find(Post.self, ("s", number)) else { continue }
        try txn.update(post) {
          switch field {
          case 0: $0.likes = value
          case 1: $0.author = value == 0 ? nil : Blog.Author(handle: "\(value)")
          case 2: $0.author?.name = "\(value)"
          case 3: $0.author?.handle = "\(value)"
          case 4: $0.tags = value == 0 ? [] : ["\(value)"]
          default: $0.attachment = value == 0 ? nil : .link(Blog.Link(url: "\(value)"))
          }
        }
      }
    }
  }

  // MARK: The model

  private func stored(_ dflat: any Workspace) -> [Int32: Post] {
    Dictionary(uniqueKeysWithValues: dflat.fetch(for: Post.self).all().map { ($0.number, $0) })
  }

  /// What an object becomes, and whether it is as before as far as it was changed.
  private func expect(_ before: Post?, _ after: Post?, _ current: Post?) -> (Post?, Bool) {
    if before == after { return (current, true) }
    guard let before, let after else {
      return current == after ? (before, true) : (current, current == before)
    }
    guard let current else { return (nil, false) }
    var isReverted = true
    func value<T: Equatable>(_ before: T, _ after: T, _ current: T) -> T {
      if before == after { return current }
      if current == after { return before }
      if current != before { isReverted = false }
      return current
    }
    let result = current.with {
      $0.likes = value(before.likes, after.likes, current.likes)
      $0.tags = value(before.tags, after.tags, current.tags)
      if let b = before.author, let a = after.author, var c = current.author {
        c.handle = value(b.handle, a.handle, c.handle)
        c.name = value(b.name, a.name, c.name)
        $0.author = c
      } else {
        $0.author = value(before.author, after.author, current.author)
      }
      if case .link(let b)? = before.attachment, case .link(let a)? = after.attachment,
        case .link(var c)? = current.attachment
      {
        c.url = value(b.url, a.url, c.url)
        $0.attachment = .link(c)
      } else {
        $0.attachment = value(before.attachment, after.attachment, current.attachment)
      }
    }
    return (result, isReverted)
  }
}
