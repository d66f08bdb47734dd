// What the ways to store stories are asked to do, in the order in which it is done.
//
// Every answer is a number that depends on all that was read, so that the ways can be compared.
// Benchmarks/peers.py does the same.

import Foundation

/// A way to store stories.
protocol Peer {
  /// Stores stories in one transaction.
  func insert(_ stories: [StorySample]) throws
  /// The newest stories.
  func newest(_ count: Int) throws -> Int
  /// Stories by their ids.
  func read(_ ids: [Int64]) throws -> Int
  /// All fields of the stories with ids below a number.
  func readAll(below id: Int64) throws -> Int
  /// The number of unread stories of each feed.
  func countUnread() throws -> Int
  /// Changes whether stories were read, in one transaction.
  func mark(_ ids: [Int64], asRead isRead: Bool) throws
  /// The best twenty stories with words.
  func search(_ words: String) throws -> Int
  /// Marks stories one by one, each in a transaction. After each, the list of a feed, the newest
  /// first, is shown as it is then.
  func show(feed: Int32, marking ids: [Int64], asRead isRead: Bool) throws -> Int
}

/// What is measured.
struct PeerTask: Sendable {
  let id: String
  let title: String
  /// - Parameters:
  ///   - peer: The way to do it.
  ///   - run: Which run it is, from 0 up.
  let work: @Sendable (any Peer, PeerData, _ run: Int) throws -> Int

  static let all: [PeerTask] = [
    PeerTask(id: "insert", title: "Insert 10,000 articles that can be searched") {
      try $0.insert($1.new($2))
      return 0
    },
    PeerTask(id: "newest", title: "Show the newest 50 of 100,000 articles, 100 times") {
      peer, _, _ in
      try (0..<100).reduce(0) { sum, _ in try sum + peer.newest(50) }
    },
    PeerTask(id: "ids", title: "Read 1,000 articles by their ids") { peer, data, _ in
      try peer.read(data.someIDs)
    },
    PeerTask(id: "all", title: "Read 10,000 articles, every field") { peer, data, _ in
      try peer.readAll(below: Int64(data.few))
    },
    PeerTask(id: "unread", title: "Count the unread articles of 100 feeds, of 100,000") {
      peer, _, _ in try peer.countUnread()
    },
    PeerTask(id: "mark", title: "Mark 10,000 articles as read, by their ids") { peer, data, run in
      try peer.mark(data.markedIDs, asRead: run % 2 == 0)
      return 0
    },
    PeerTask(id: "search", title: "Find the best 20 of 100,000 articles by words, 10 times") {
      peer, data, _ in try data.searches.reduce(0) { try $0 + peer.search($1) }
    },
    PeerTask(
      id: "show", title: "Change 100 articles one by one, and show a list of 1,000 each time"
    ) {
      peer, data, run in
      try peer.show(feed: 7, marking: data.shownIDs, asRead: run % 2 == 0)
    },
  ]
}

/// The stories, and which of them the tasks are about.
struct PeerData: Sendable {
  let few: Int
  let stories: [StorySample]
  let someIDs: [Int64]
  let markedIDs: [Int64]
  let shownIDs: [Int64]
  let searches: [String]

  /// - Parameter few: The number of stories of most tasks; ten times as many are stored.
  init(few: Int) {
    self.few = few
    stories = StorySample.make(0..<Int64(few) * 10)
    var random = Random(seed: 5)
    var ids = stories.map(\.id)
    random.shuffle(&ids)
    someIDs = Array(ids.prefix(few / 10))
    markedIDs = Array(stories.lazy.filter { !$0.isRead && $0.feed != 7 }.map(\.id).prefix(few))
    shownIDs = Array(stories.lazy.filter { !$0.isRead && $0.feed == 7 }.map(\.id).prefix(100))
    searches =
      (10..<15).map { Words.common($0) }
      + (20..<24).map { Words.common($0) + " " + Words.common($0 - 8) } + ["rare1*"]
  }

  /// Stories that are not stored before a run.
  func new(_ run: Int) -> [StorySample] {
    let first = Int64(stories.count + run * few)
    return StorySample.make(first..<first + Int64(few))
  }
}
