// Articles as a busy reader collects them: fifty feeds, a thousand authors, a year of articles.

import Foundation
import SQLiteDflat

func generate(_ number: Int, into dflat: SQLiteWorkspace) async throws {
  var random = SmallRandom(seed: 1)
  let feeds = (1...50).map {
    Feed(id: "feed-\($0)", title: "\(random.pick(topics).capitalized) Weekly \($0)", link: "")
  }
  let authors = (1...1_000).map { Author(name: "\(random.pick(names)) \($0)") }
  let start = Date(timeIntervalSince1970: 1_700_000_000)
  let articles = (0..<number).map { place in
    let published = start.addingTimeInterval(Double(place) * 31_536_000 / Double(number))
    return Article(
      id: "article-\(place)", feed: random.pick(feeds).id, author: random.pick(authors).name,
      title: sentence(3...7, &random), text: sentence(20...60, &random),
      link: "https://example.org/\(place)", published: published, day: day(of: published),
      tags: [random.pick(topics)])
  }
  try await timed("\(number) articles in 50 feeds, in one transaction") {
    try await dflat.write(Feed.self, Author.self, Article.self) { txn in
      try txn.insert(contentsOf: feeds)
      try txn.insert(contentsOf: authors)
      return try txn.insert(contentsOf: articles)
    }
  }
  try await timed("their indexes, while nothing waits for them") {
    try await dflat.indexesReady(for: Article.self)
  }
}

private let names = ["Ada", "Barbara", "Edsger", "Frances", "Grace", "Ken", "Margaret", "Niklaus"]
private let topics = ["compilers", "databases", "gardening", "languages", "networks", "typography"]
private let words = [
  "a", "about", "answer", "branch", "cache", "change", "column", "commit", "empty", "every",
  "field", "fast", "first", "garden", "green", "index", "journal", "key", "lock", "merge", "never",
  "object", "page", "query", "reader", "row", "schema", "second", "slow", "store", "table", "test",
  "thread", "tree", "value", "vacuum", "window", "word", "writer", "zero",
]

private func sentence(_ length: ClosedRange<Int>, _ random: inout SmallRandom) -> String {
  let text = (0..<Int.random(in: length, using: &random)).map { _ in random.pick(words) }
    .joined(separator: " ")
  return text.prefix(1).uppercased() + text.dropFirst()
}

/// SplitMix64, so that each run has the same articles. https://prng.di.unimi.it/splitmix64.c
struct SmallRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }
}
