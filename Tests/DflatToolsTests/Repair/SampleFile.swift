// SampleFile: a file of the library that is going to be damaged, and what was ever stored in it.
//
// Each object has its number in every dozen of its bytes, `<000123:0007>`. So a search of the raw
// pages tells which objects have bytes where, without any knowledge of b-trees.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat

/// A file with posts, tables of plain SQL and a dictionary, as bytes.
struct SampleFile: Sendable {
  /// The bytes of the file.
  private(set) var bytes: [UInt8] = []
  /// The bytes of the log beside it; empty if there is none.
  private(set) var log: [UInt8] = []
  /// The stored bytes of each post in the end.
  private(set) var posts: [Int: [UInt8]] = [:]
  /// All that a post ever was.
  private(set) var history: [Int: Set<[UInt8]>] = [:]
  /// The kinds of pages: `leaf`, `internal` or `overflow`, and the table or index.
  private(set) var kinds: [Int: (kind: String, name: String)] = [:]
  /// The free pages.
  private(set) var freePages: [Int] = []

  static let pageSize = 4096
  static let table = "blog__post_v1_0"

  var pageCount: Int { bytes.count / Self.pageSize }

  /// A post with its number everywhere.
  static func post(_ number: Int, revision: Int) -> Post {
    func text(_ count: Int) -> String {
      (0..<count).map { "<\(padded(number, 6)):\(padded($0 + 100 * revision, 4))>" }.joined()
    }
    // Some take overflow pages, one in a hundred many of them.
    let size = number % 100 == 7 ? 1500 : number % 9 == 4 ? 400 : 8 + number % 7
    return Post(
      site: "<\(padded(number, 6)):key>", number: Int32(number), likes: Int32(number % 50),
      author: Blog.Author(handle: text(1), name: text(size)),
      attachment: number.isMultiple(of: 3)
        ? .photo(Blog.Photo(path: text(2))) : .link(Blog.Link(url: text(1))))
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// - Parameters:
  ///   - count: The number of posts.
  ///   - hasLog: Whether a third of what was done is in the log only.
  ///   - hasChecksums: Whether the rows have checksums.
  init(count: Int, hasLog: Bool, hasChecksums: Bool = false) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/sample.db"
    let first = count * 2 / 3
    var configuration = SQLiteWorkspace.Configuration()
    configuration.rowChecksums = hasChecksums
    try Self.write(path, configuration) { workspace in
      try workspace.write(Post.self) { txn in
        for number in 1...first {
          _ = try txn.insert(Self.post(number, revision: 0))
        }
      }
      try workspace.write { context in
        var dictionary = context.dictionary
        dictionary["theme"] = "dark"
        dictionary["size"] = 12
      }
    }
    let connection = try Connection(path: path)
    try connection.execute(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, height REAL, data BLOB);
      CREATE TABLE pair (a TEXT, b INTEGER, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
      CREATE INDEX city_name ON city (name);
      CREATE VIEW high AS SELECT name FROM city WHERE height > 500;
      CREATE TRIGGER no_city AFTER DELETE ON city BEGIN SELECT 1; END;
      """)
    for number in 1...40 {
      try connection.execute(
        "INSERT INTO city (name, height, data) VALUES (?, ?, ?)",
        [
          .text("city \(number)"), .real(Double(number * 25)),
          .blob(Array(repeating: UInt8(number), count: number * 20)),
        ])
      try connection.execute(
        "INSERT INTO pair VALUES (?, ?, ?)",
        [.text("a\(number)"), .integer(Int64(number % 5)), .null])
    }
    try connection.close()
    try remember(path)
    let workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
    try Self.change(workspace, first, count)
    try remember(path)
    try Self.remove(workspace, count)
    if !hasLog { workspace.shutdown() }
    let copy = "\(directory)/copy.db"
    for suffix in hasLog ? ["", "-wal"] : [""] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    workspace.shutdown()
    bytes = Array(try Data(contentsOf: URL(filePath: copy)))
    if hasLog { log = Array(try Data(contentsOf: URL(filePath: copy + "-wal"))) }
    try describe(copy)
  }

  private static func write(
    _ path: String, _ configuration: SQLiteWorkspace.Configuration,
    _ body: (SQLiteWorkspace) throws -> Void
  ) throws {
    let workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
    defer { workspace.shutdown() }
    try body(workspace)
  }

  /// Adds and changes posts in several transactions.
  private static func change(_ workspace: SQLiteWorkspace, _ first: Int, _ count: Int) throws {
    for start in stride(from: first + 1, through: count, by: 50) {
      try workspace.write(Post.self) { txn in
        for number in start...min(start + 49, count) {
          _ = try txn.insert(Self.post(number, revision: 0))
        }
        for number in start...min(start + 10, count) where number % 4 == 0 {
          let old = number - first
          _ = try txn.delete(Self.post(old, revision: 0))
          _ = try txn.insert(Self.post(old, revision: 1))
        }
      }
    }
  }

  private static func remove(_ workspace: SQLiteWorkspace, _ count: Int) throws {
    try workspace.write(Post.self) { txn in
      for number in 1...count where number % 20 == 3 || (count / 4..<count / 3).contains(number) {
        _ = try txn.delete(Self.post(number, revision: 0))
      }
    }
    _ = workspace.fetch(for: Post.self).where(Post.likes == 7)
  }

  private mutating func remember(_ path: String) throws {
    let connection = try Connection(path: path)
    for row in try connection.rows("SELECT __pk1, p FROM \(Self.table)") {
      guard let number = row[0].integer, let bytes = row[1].blob else { continue }
      history[Int(number), default: []].insert(bytes)
    }
    try connection.close()
  }

  /// Notes what is in the file in the end.
  private mutating func describe(_ path: String) throws {
    try remember(path)
    let connection = try Connection(path: path)
    for row in try connection.rows("SELECT __pk1, p FROM \(Self.table)") {
      if let number = row[0].integer, let bytes = row[1].blob { posts[Int(number)] = bytes }
    }
    for row in try connection.rows("SELECT pageno, pagetype, name FROM dbstat") {
      guard let page = row[0].integer, let kind = row[1].text, let name = row[2].text else {
        continue
      }
      kinds[Int(page)] = (kind, name)
    }
    let total = Int(try connection.value("PRAGMA page_count")?.integer ?? 0)
    freePages = (3..<max(3, total)).filter { kinds[$0] == nil }
    try connection.close()
  }

  /// The pages of tables or indexes of some kind.
  func pages(_ kind: String, _ isWanted: (String) -> Bool = { _ in true }) -> [Int] {
    kinds.filter { $0.value.kind == kind && isWanted($0.value.name) }.keys.sorted()
  }
}

/// Where the current version of each page is, and which posts have bytes in it.
struct SamplePages: Sendable {
  /// A part of one of the two files.
  struct Extent: Sendable {
    let isInLog: Bool
    let range: Range<Int>
  }

  private(set) var extents: [Int: Extent] = [:]
  /// The frames of the log: their pages and whether they end a transaction.
  private(set) var frames: [(page: Int, isCommit: Bool)] = []
  /// The pages with bytes of each post.
  private(set) var pagesOfPost: [Int: Set<Int>] = [:]
  static let frameSize = 24 + SampleFile.pageSize

  init(_ file: SampleFile) {
    let size = SampleFile.pageSize
    for page in 1...max(1, file.pageCount) {
      extents[page] = Extent(isInLog: false, range: (page - 1) * size..<page * size)
    }
    var start = 32
    var salt: ArraySlice<UInt8>?
    while start + Self.frameSize <= file.log.count {
      let own = file.log[start + 8..<start + 16]
      if salt == nil { salt = own }
      if own != salt { break }
      func number(_ place: Int) -> Int {
        file.log[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      }
      frames.append((number(start), number(start + 4) > 0))
      start += Self.frameSize
    }
    let last = frames.lastIndex { $0.isCommit } ?? -1
    for (index, frame) in frames.enumerated() where index <= last {
      let place = 32 + index * Self.frameSize + 24
      extents[frame.page] = Extent(isInLog: true, range: place..<place + size)
    }
    for (page, extent) in extents where file.kinds[page] != nil {
      let kind = file.kinds[page]
      guard kind?.name == SampleFile.table else { continue }
      let bytes = extent.isInLog ? file.log[extent.range] : file.bytes[extent.range]
      for number in Self.numbers(in: bytes) { pagesOfPost[number, default: []].insert(page) }
    }
  }

  /// The numbers in `<000123:`.
  private static func numbers(in bytes: ArraySlice<UInt8>) -> Set<Int> {
    var found: Set<Int> = []
    bytes.withUnsafeBufferPointer { bytes in
      var index = 0
      while index + 8 <= bytes.count {
        guard bytes[index] == UInt8(ascii: "<"), bytes[index + 7] == UInt8(ascii: ":") else {
          index += 1
          continue
        }
        var number = 0
        for place in index + 1..<index + 7 { number = number * 10 + Int(bytes[place]) - 48 }
        found.insert(number)
        index += 8
      }
    }
    return found
  }
}
