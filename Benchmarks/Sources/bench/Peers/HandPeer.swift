// HandPeer: stories in tables that a person would design, with statements by hand in Swift.

import CSQLiteFloor
import Foundation

final class HandPeer: Peer {
  /// A story as a program without a library would have it.
  private struct Story {
    let id: Int64
    let feed: Int32
    let title: String
    let text: String
    let isRead: Bool
    let date: Int64

    init(_ row: borrowing FloorStatement) {
      func text(_ column: Int32) -> String {
        sqlite3_column_text(row.handle, column).map { String(cString: $0) } ?? ""
      }
      id = row.int64(0)
      feed = Int32(truncatingIfNeeded: row.int64(1))
      title = text(2)
      self.text = text(3)
      isRead = row.int64(4) != 0
      date = row.int64(5)
    }
  }

  private static let schema = """
    CREATE TABLE story (id INTEGER PRIMARY KEY, feed INTEGER NOT NULL, title TEXT NOT NULL,
      text TEXT NOT NULL, is_read INTEGER NOT NULL, date INTEGER NOT NULL);
    CREATE INDEX story_unread ON story (is_read, feed);
    CREATE INDEX story_feed ON story (feed, date);
    CREATE INDEX story_date ON story (date);
    CREATE VIRTUAL TABLE words USING fts5 (title, text, content = story, content_rowid = id);
    """

  private let database: FloorDatabase
  private let columns = "id, feed, title, text, is_read, date"

  init(_ path: String, _ data: PeerData) throws {
    database = try FloorDatabase(path: path, creates: true)
    try database.execute(Self.schema)
    try insert(data.stories)
  }

  private func transaction(_ body: () throws -> Void) throws {
    try database.checkpointIfDue()
    try database.execute("BEGIN IMMEDIATE")
    try body()
    try database.execute("COMMIT")
  }

  private func stories(_ select: borrowing FloorStatement) throws -> [Story] {
    var stories: [Story] = []
    while try select.step() { stories.append(Story(select)) }
    select.reset()
    return stories
  }

  private func bind(_ text: String, _ index: Int32, _ statement: borrowing FloorStatement) {
    // SQLite copies it.
    sqlite3_bind_text(
      statement.handle, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
  }

  func insert(_ stories: [StorySample]) throws {
    let insert = try database.prepare("INSERT INTO story VALUES (?, ?, ?, ?, ?, ?)")
    let index = try database.prepare("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)")
    try transaction {
      for story in stories {
        insert.bind(1, story.id)
        insert.bind(2, Int64(story.feed))
        bind(story.title, 3, insert)
        bind(story.text, 4, insert)
        insert.bind(5, story.isRead ? 1 : 0)
        insert.bind(6, story.date)
        try insert.run()
        index.bind(1, story.id)
        bind(story.title, 2, index)
        bind(story.text, 3, index)
        try index.run()
      }
    }
  }

  func newest(_ count: Int) throws -> Int {
    let select = try database.prepare(
      "SELECT \(columns) FROM story ORDER BY date DESC LIMIT \(count)")
    return size(try stories(select))
  }

  func read(_ ids: [Int64]) throws -> Int {
    let list = ids.map(String.init).joined(separator: ",")
    let select = try database.prepare("SELECT \(columns) FROM story WHERE id IN (\(list))")
    return size(try stories(select))
  }

  func readAll(below id: Int64) throws -> Int {
    let select = try database.prepare("SELECT \(columns) FROM story WHERE id < ?")
    select.bind(1, id)
    return try stories(select).reduce(0) { sum, story in
      sum + story.title.utf8.count + story.text.utf8.count + (story.isRead ? 1 : 0)
        + Int(story.feed) + Int(story.date % 10)
    }
  }

  func countUnread() throws -> Int {
    let select = try database.prepare(
      "SELECT feed, count(*) FROM story WHERE is_read = 0 GROUP BY feed")
    var sum = 0
    while try select.step() { sum += Int(select.int64(0)) * Int(select.int64(1)) }
    return sum
  }

  func mark(_ ids: [Int64], asRead isRead: Bool) throws {
    let update = try database.prepare("UPDATE story SET is_read = ? WHERE id = ?")
    try transaction {
      for id in ids {
        update.bind(1, isRead ? 1 : 0)
        update.bind(2, id)
        try update.run()
      }
    }
  }

  func search(_ words: String) throws -> Int {
    let select = try database.prepare(
      """
      SELECT \(columns.split(separator: ", ").map { "s.\($0)" }.joined(separator: ", "))
      FROM words JOIN story AS s ON s.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 20
      """)
    bind(words, 1, select)
    return size(try stories(select))
  }

  func show(feed: Int32, marking ids: [Int64], asRead isRead: Bool) throws -> Int {
    let select = try database.prepare(
      "SELECT \(columns) FROM story WHERE feed = ? ORDER BY date DESC, id")
    select.bind(1, Int64(feed))
    var sum = 0
    for id in ids {
      try mark([id], asRead: isRead)
      sum += try stories(select).reduce(0) { $0 + $1.title.utf8.count + ($1.isRead ? 1 : 0) }
    }
    return sum
  }

  private func size(_ stories: [Story]) -> Int { stories.reduce(0) { $0 + $1.title.utf8.count } }
}
