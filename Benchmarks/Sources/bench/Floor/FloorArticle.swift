// FloorArticle: articles as in a C program: direct encoding and decoding, and a writer that keeps
// the same rows and index entries as Dflat, with statements prepared once.

/// An article whose texts are owned elsewhere.
struct FloorArticle {
  var id: Int64
  var feed: Int32
  var title: FloorBytes
  var text: FloorBytes
  var isRead: Bool
  var date: Int64
  var score: Int32

  init(_ row: FloorReader) {
    id = row.articleID
    feed = row.articleFeed
    title = row.articleTitle
    text = row.articleText
    isRead = row.articleIsRead != 0
    date = row.articleDate
    score = row.articleScore
  }

  /// Finished rows: what an array of Dflat's objects has. The caller frees them.
  static func encoded(_ samples: [ArticleSample]) -> [FloorRow] {
    var encoder = FloorEncoder()
    defer { encoder.free() }
    return samples.map { FloorRow(id: $0.id, encoder.encode($0)) }
  }
}

// The fields by their vtable offsets.
extension FloorReader {
  var articleID: Int64 { scalar(4) }
  var articleFeed: Int32 { scalar(6) }
  var articleTitle: FloorBytes { bytes(8) }
  var articleText: FloorBytes { bytes(10) }
  var articleIsRead: UInt8 { scalar(12) }
  var articleDate: Int64 { scalar(14) }
  var articleScore: Int32 { scalar(16) }
}

extension FloorEncoder {
  /// The same encoding as Dflat's generated code. Only `isRead` is ever at its default.
  @inline(__always)
  mutating func encode(_ article: borrowing FloorArticle) -> UnsafeRawBufferPointer {
    start()
    let title = string(article.title)
    let text = string(article.text)
    pad(before: 8, to: 8)
    let end = used
    push(article.id)
    let id = used
    push(article.date)
    let date = used
    push(article.feed)
    let feed = used
    let titleField = reference(title)
    let textField = reference(text)
    push(article.score)
    let score = used
    if article.isRead { push(UInt8(1)) }
    let isRead = article.isRead ? used : 0
    let table = startVTable()
    push(UInt16(truncatingIfNeeded: table &- score))
    push(UInt16(truncatingIfNeeded: table &- date))
    push(UInt16(truncatingIfNeeded: isRead == 0 ? 0 : table &- isRead))
    push(UInt16(truncatingIfNeeded: table &- textField))
    push(UInt16(truncatingIfNeeded: table &- titleField))
    push(UInt16(truncatingIfNeeded: table &- feed))
    push(UInt16(truncatingIfNeeded: table &- id))
    push(UInt16(truncatingIfNeeded: table &- end))
    push(UInt16(18))
    endVTable(of: table)
    return finish(table, alignment: 8)
  }

  mutating func encode(_ sample: ArticleSample) -> UnsafeRawBufferPointer {
    var (title, text) = (sample.title, sample.text)
    return title.withUTF8 { title in
      text.withUTF8 { text in
        encode(
          FloorArticle(
            id: sample.id, feed: sample.feed,
            title: FloorBytes(start: title.baseAddress, count: title.count),
            text: FloorBytes(start: text.baseAddress, count: text.count), isRead: sample.isRead,
            date: sample.date, score: sample.score))
      }
    }
  }
}

extension FloorArticle {
  fileprivate init(
    id: Int64, feed: Int32, title: FloorBytes, text: FloorBytes, isRead: Bool, date: Int64,
    score: Int32
  ) {
    (self.id, self.feed, self.date, self.score) = (id, feed, date, score)
    (self.title, self.text, self.isRead) = (title, text, isRead)
  }
}

/// Writes articles: a row of the main table, and one in each of the four side tables.
final class FloorArticleWriter {
  let database: FloorDatabase
  private let begin: FloorStatement
  private let commit: FloorStatement
  private let selectKey: FloorStatement
  private let selectFeeds: FloorStatement
  private let insertMain: FloorStatement
  private let insertFeed: FloorStatement
  private let insertTitle: FloorStatement
  private let insertIsRead: FloorStatement
  private let insertCompound: FloorStatement
  private let updateMain: FloorStatement
  private let updateIsRead: FloorStatement
  private let deletions: [FloorDeletion]
  private var encoder = FloorEncoder()

  init(_ path: String) throws {
    let database = try FloorDatabase(path: path, walLimit: Store.noCheckpoints)
    self.database = database
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    selectKey = try database.prepare("SELECT rowid, p FROM article WHERE __pk0 = ?")
    selectFeeds = try database.prepare(
      "SELECT m.rowid, m.p FROM article AS m WHERE m.rowid IN "
        + "(SELECT rowid FROM article__f6 WHERE f6 <= ?) ORDER BY m.rowid")
    insertMain = try database.prepare("INSERT INTO article (p, __pk0) VALUES (?, ?)")
    insertFeed = try database.prepare("INSERT INTO article__f6 (rowid, f6) VALUES (?, ?)")
    insertTitle = try database.prepare("INSERT INTO article__f8 (rowid, f8) VALUES (?, ?)")
    insertIsRead = try database.prepare("INSERT INTO article__f12 (rowid, f12) VALUES (?, ?)")
    insertCompound = try database.prepare(
      "INSERT INTO article__x__f6__x__f14 (rowid, f6, f14) VALUES (?, ?, ?)")
    updateMain = try database.prepare("UPDATE article SET p = ?1 WHERE rowid = ?2")
    updateIsRead = try database.prepare("UPDATE article__f12 SET f12 = 1 WHERE rowid = ?")
    // The table by which the rows are found comes last.
    deletions = try [
      "article", "article__f8", "article__f12", "article__x__f6__x__f14", "article__f6",
    ].map { try FloorDeletion(database, $0) }
  }

  deinit {
    encoder.free()
  }

  /// One transaction, committed, without a checkpoint.
  @inline(__always)
  func transaction(_ body: () throws -> Void) throws {
    try begin.run()
    try body()
    try commit.run()
  }

  /// Stores a finished row.
  @inline(__always)
  func insert(_ row: FloorRow) throws {
    let article = FloorArticle(row.reader)
    insertMain.bind(1, blob: UnsafeRawBufferPointer(start: row.bytes, count: row.count))
    insertMain.bind(2, article.id)
    try insertMain.run()
    let id = database.lastInsertRowID
    insertFeed.bind(1, id)
    insertFeed.bind(2, Int64(article.feed))
    try insertFeed.run()
    insertTitle.bind(1, id)
    insertTitle.bind(2, text: article.title)
    try insertTitle.run()
    insertIsRead.bind(1, id)
    insertIsRead.bind(2, article.isRead ? 1 : 0)
    try insertIsRead.run()
    insertCompound.bind(1, id)
    insertCompound.bind(2, Int64(article.feed))
    insertCompound.bind(3, article.date)
    try insertCompound.run()
  }

  /// Marks the article with a key as read.
  @inline(__always)
  func markAsRead(key: Int64) throws {
    selectKey.bind(1, key)
    if try selectKey.step() {
      let bytes = selectKey.blob(1)
      try markAsRead(selectKey.int64(0), FloorReader(row: bytes.baseAddress!))
    }
    selectKey.reset()
  }

  /// Marks all articles of the feeds up to one as read.
  func markAsRead(feedsUpTo feed: Int32) throws {
    var list = FloorList()
    selectFeeds.bind(1, Int64(feed))
    try selectFeeds.fetchAll(into: &list)
    for index in 0..<list.count { try markAsRead(list[index].id, list[index].reader) }
  }

  /// A row of an unread article has no place for the flag, so it is written anew.
  @inline(__always)
  private func markAsRead(_ id: Int64, _ row: FloorReader) throws {
    var article = FloorArticle(row)
    if article.isRead { return }
    article.isRead = true
    updateMain.bind(1, blob: encoder.encode(article))
    updateMain.bind(2, id)
    try updateMain.run()
    updateIsRead.bind(1, id)
    try updateIsRead.run()
  }

  /// Deletes all articles of the feeds up to one, with one statement for each table.
  func delete(feedsUpTo feed: Int32) throws {
    for deletion in deletions { try deletion.run(feedsUpTo: feed) }
  }

  func delete(id: Int64) throws {
    for deletion in deletions { try deletion.run(id: id) }
  }

  /// The same as `Store.warmUpArticles`.
  func warmUp() throws {
    let row = FloorArticle.encoded([ArticleSample(.max)])[0]
    defer { row.free() }
    try transaction {
      try markAsRead(key: 1)
      try insert(row)
      try delete(id: database.lastInsertRowID)
    }
  }
}

/// Deletes rows of one table.
private final class FloorDeletion {
  private let byID: FloorStatement
  private let byFeed: FloorStatement

  init(_ database: FloorDatabase, _ table: String) throws {
    byID = try database.prepare("DELETE FROM \(table) WHERE rowid = ?")
    byFeed = try database.prepare(
      table == "article__f6"
        ? "DELETE FROM article__f6 WHERE f6 <= ?"
        : "DELETE FROM \(table) WHERE rowid IN (SELECT rowid FROM article__f6 WHERE f6 <= ?)")
  }

  func run(id: Int64) throws {
    byID.bind(1, id)
    try byID.run()
  }

  func run(feedsUpTo feed: Int32) throws {
    byFeed.bind(1, Int64(feed))
    try byFeed.run()
  }
}
