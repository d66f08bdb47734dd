// Keys of any length: an engine may have no room for long ones in its index.

import Dflat
import DflatTestSupport
import Platform
import PostgresTestSupport
import Testing

private typealias Label = Guild.Label

@Suite("Long keys")
struct LongKeyTests {
  /// Texts that are the same for a long while, around the lengths from which engines shorten them.
  private static let names: [String] = {
    let long = String((0..<20_000).map { Character(Unicode.Scalar(UInt8($0 * $0 % 89 + 33))) })
    let lengths = [0, 1, 256, 2550, 2551, 2552, 2583, 2584, 2585, 2600, 2704, 2705, 9000]
    return lengths.flatMap { length in
      let text = String(long.prefix(length))
      return [text, text + "a", text + "b", text + "\u{E9}", text + "\0"]
    }
  }()

  // By the C library: without optimisation Swift takes most of the test's time for this.
  private static func isBefore(_ left: String, _ right: String) -> Bool {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        guard let first = left.baseAddress, let second = right.baseAddress else {
          return left.count < right.count
        }
        let order = memcmp(first, second, min(left.count, right.count))
        return order < 0 || order == 0 && left.count < right.count
      }
    }
  }

  /// The names that a test accepts, in their order.
  private static func expected(
    _ model: [String: Int32], _ test: (String) -> Bool = { _ in true }
  ) -> [String] {
    model.keys.filter(test).sorted(by: isBefore)
  }

  @Test(
    "Objects with long keys are changed, found, compared and ordered as all others",
    arguments: TestEngine.some([.sqlite, .memory, .postgres]), [false, true])
  func model(engine: TestEngine, isNew: Bool) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let dflat = workspace.dflat
        var model: [String: Int32] = [:]
        if !isNew { try dflat.write(Label.self) { try $0.insert(Label(name: "first", rank: 0)) } }
        if !isNew { model["first"] = 0 }
        for round in 0..<(isLongRun ? 60 : 5) as Range<Int32> {
          let names = (0..<20).map { _ in random.pick(Self.names) }
          switch Int.random(in: 0...3, using: &random) {
          case 0:
            try dflat.write(Label.self) { txn in
              try txn.upsert(contentsOf: names.map { Label(name: $0, rank: round) })
            }
            for name in names { model[name] = round }
          case 1:
            let new = Set(names).subtracting(model.keys)
            try dflat.write(Label.self) { txn in
              for name in new { try txn.insert(Label(name: name, rank: round)) }
              for name in new {
                #expect(throws: StorageError.self) { try txn.insert(Label(name: name, rank: -1)) }
              }
              try check(model.merging(new.map { ($0, round) }) { $1 }, dflat, &random)
            }
            for name in new { model[name] = round }
          case 2:
            try dflat.write(Label.self) { txn in
              try txn.update(Label.self, keys: names) { $0.rank = round }
            }
            for name in names where model[name] != nil { model[name] = round }
          default:
            let gone = names.prefix(5)
            try dflat.write(Label.self) { try $0.delete(Label.self, keys: gone) }
            for name in gone { model[name] = nil }
          }
          try check(model, dflat, &random)
        }
        #expect(workspace.takeErrors().isEmpty)
      }
    }
  }

  private func check(
    _ model: [String: Int32], _ dflat: any Workspace, _ random: inout SeededGenerator
  ) throws {
    let seed = "DFLAT_SEED=\(random.seed)"
    let labels = dflat.fetch(for: Label.self)
    func names(_ condition: Condition<Label>) -> [String] {
      labels.where(condition, orderBy: [Label.name.ascending]).map(\.name)
    }
    #expect(Dictionary(uniqueKeysWithValues: labels.all().map { ($0.name, $0.rank) }) == model)
    for name in (0..<4).map({ _ in random.pick(Self.names) }) {
      let found = dflat.find(Label.self, name)
      #expect(found?.rank == model[name] && (found == nil || found?.name == name), "\(seed)")
      func expected(_ test: (String) -> Bool) -> [String] { Self.expected(model, test) }
      #expect(names(Label.name == name) == expected { $0 == name }, "\(seed)")
      #expect(names(Label.name != name) == expected { $0 != name }, "\(seed)")
      #expect(names(Label.name < name) == expected { Self.isBefore($0, name) }, "\(seed)")
      #expect(names(Label.name <= name) == expected { !Self.isBefore(name, $0) }, "\(seed)")
      #expect(names(Label.name > name) == expected { Self.isBefore(name, $0) }, "\(seed)")
      #expect(names(Label.name.hasPrefix(name)) == expected { $0.hasPrefix(name) }, "\(seed)")
      let some = [name, random.pick(Self.names), "first"]
      #expect(names(Label.name.in(some)) == expected { some.contains($0) }, "\(seed)")
    }
    let all = Self.expected(model)
    let last = labels.all(limit: .limit(3), orderBy: [Label.name.descending]).map(\.name)
    #expect(last == all.suffix(3).reversed(), "\(seed)")
    let query = dflat.query(Label.self)
    #expect(try query.count() == model.count)
    #expect(try query.max(Label.name) == all.last, "\(seed)")
    let groups = try query.grouped(by: Label.name, .count).fetch()
    #expect(groups.map { $0.0 ?? "" }.sorted(by: Self.isBefore) == all, "\(seed)")
  }

  @Test("A key of several fields is shortened in each text", arguments: TestEngine.all)
  func severalFields(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let sites = [3000, 5000].map { String(repeating: "k", count: $0) }
      let posts = sites.flatMap { site in (1...2).map { Post(site: site, number: $0, likes: 5) } }
      try workspace.store(posts)
      #expect(throws: TransactionError.objectAlreadyExists) { try workspace.store([posts[1]]) }
      for post in posts {
        let found = workspace.dflat.find(Post.self, post.id)
        #expect(found?.site == post.site && found?.number == post.number)
      }
      let second = workspace.posts.where(Post.site > sites[0] && Post.number == 2)
      #expect(second.map(\.site) == [sites[1]])
      #expect(workspace.posts.where(Post.likes == 5).count == 4)
      _ = workspace.takeErrors()
    }
  }

  @Test("Names in a dictionary may be long", arguments: TestEngine.all)
  func dictionary(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      var dictionary = workspace.dflat.dictionary(namespace: Self.names.last ?? "")
      for (number, name) in Self.names.enumerated() { dictionary[name] = number }
      dictionary.synchronize()
      for (number, name) in Self.names.enumerated() { #expect(dictionary[name] == number) }
      #expect(Set(dictionary.keys) == Set(Self.names))
      #expect(workspace.takeErrors().isEmpty)
    }
  }
}
