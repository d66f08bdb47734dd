// DflatPeer: stories in a workspace.

import Dflat
import Foundation
import SQLiteDflat
import Synchronization

struct DflatPeer: Peer {
  private let store: Store
  private var stories: QueryBuilder<Story> { store.workspace.fetch(for: Story.self) }

  init(_ path: String, _ data: PeerData) throws {
    store = Store(path)
    try insert(data.stories)
  }

  func close() { store.close() }

  func insert(_ stories: [StorySample]) throws {
    try store.workspace.write(Story.self) { try $0.insert(contentsOf: stories.map(\.object)) }
  }

  func newest(_ count: Int) throws -> Int {
    size(stories.all(limit: .limit(count), orderBy: [Story.date.descending]))
  }

  func read(_ ids: [Int64]) throws -> Int { size(stories.where(Story.id.in(ids))) }

  func readAll(below id: Int64) throws -> Int {
    var sum = 0
    for story in stories.where(Story.id < id) {
      sum += story.title.count + story.text.count
      sum += Int(story.feed) + Int(story.date % 10) + (story.isRead ? 1 : 0)
    }
    return sum
  }

  func countUnread() throws -> Int {
    let unread = store.workspace.query(Story.self).where(!Story.isRead)
    var sum = 0
    for (feed, count) in try unread.grouped(by: Story.feed, .count).fetch() {
      sum += Int(feed ?? 0) * count
    }
    return sum
  }

  func mark(_ ids: [Int64], asRead isRead: Bool) throws {
    try store.workspace.write(Story.self) {
      try $0.update(Story.self, keys: ids) { $0.isRead = isRead }
    }
  }

  func search(_ words: String) throws -> Int {
    let search = Story.search(words)
    return size(stories.where(search, limit: .limit(20), orderBy: [search.rank]))
  }

  func show(feed: Int32, marking ids: [Int64], asRead isRead: Bool) throws -> Int {
    let shown = Mutex(0)
    let list = store.workspace.query(Story.self).where(Story.feed == feed)
      .orderBy([Story.date.descending])
    let subscription = store.workspace.subscribe(list) { list in
      let size = shownSize(list)
      shown.withLock { $0 = size }
    }
    defer { subscription.cancel() }
    var sum = 0
    for id in ids {
      try store.workspace.write(Story.self) {
        _ = try $0.update(Story.self, keys: [id]) { $0.isRead = isRead }
      }
      // The handler has run before the call returns.
      sum += shown.withLock { $0 }
    }
    return sum
  }

  private func size(_ stories: FetchedResult<Story>) -> Int {
    var sum = 0
    for story in stories { sum += story.title.count }
    return sum
  }
}

private func shownSize(_ stories: FetchedResult<Story>) -> Int {
  var sum = 0
  for story in stories { sum += story.title.count + (story.isRead ? 1 : 0) }
  return sum
}

extension String? {
  /// The number of bytes.
  fileprivate var count: Int { self?.utf8.count ?? 0 }
}
