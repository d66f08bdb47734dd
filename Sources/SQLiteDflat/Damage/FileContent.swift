// FileContent: whether a file that SQLite refuses has anything of a database.
//
//  - A file is one of a database if it has a page that is a sound page of a tree, wherever it is.
//    Bytes of other files are none: the numbers in the head of such a page, and the places of its
//    cells, must fit together.
//  - A log beside the file counts, if it has a page: repair reads it, too.
//  - A large file is not read whole: pages are looked at that are spread over it.
//  - A process that closes a descriptor of a file loses the locks that its connections have on it.
//    So a file that another part of the process has open is not looked at.

import Platform

extension DamagedFile {
  /// What a damaged file looks like.
  public enum Content: Sendable, Hashable {
    /// It or its log has pages of an SQLite database. Repair may save rows.
    case pages
    /// It is empty, or has nothing but zeros, or nothing but zeros behind the first page of a
    /// database; and there is no log with pages beside it.
    case nothing
    /// Nothing in it looks like a page of SQLite: it is encrypted, or another program's file.
    case foreign
    /// It cannot be read, or this process has it open elsewhere.
    case unreadable

    /// Looks at a file.
    init(of path: String) {
      guard !FileExclusion.isOpenHere(path), let file = try? PlainFile(reading: path),
        let content = try? Self(of: file)
      else {
        self = .unreadable
        return
      }
      self = content
    }

    private init(of file: PlainFile) throws {
      let size = try file.size()
      var sample = try PageSample(of: file, size: size)
      // Most files have pages of 4096 bytes. The first ones show it.
      for pageSize in [4096, 1024, 8192, 16_384, 512, 2048, 32_768, 65_536] {
        if try sample.hasPage(of: pageSize, in: file) {
          self = .pages
          return
        }
      }
      self = Self.hasLog(of: file.path) ? .pages : sample.isEmpty ? .nothing : .foreign
    }

    /// Whether the log beside a file has a whole page.
    ///
    /// Source of the format: "WAL File Format" in SQLite's documentation.
    private static func hasLog(of path: String) -> Bool {
      guard let log = try? PlainFile(reading: (BackupFolder.resolved(path) ?? path) + "-wal"),
        let size = try? log.size(), size > 32
      else { return false }
      var head = [UInt8](repeating: 0, count: 12)
      guard (try? head.withUnsafeMutableBytes({ try log.read($0, at: 0) })) != nil else {
        return false
      }
      let pageSize = head[8..<12].reduce(0) { $0 << 8 | Int($1) }
      return head.starts(with: [0x37, 0x7F, 0x06]) && size >= 32 + 24 + pageSize
    }
  }
}

/// Pages of a file, looked at one by one.
private struct PageSample {
  /// How many pages of a size are looked at.
  private static let limit = 4096
  private let size: Int
  /// Where the first page ends, if the file begins like a database. Files that are encrypted may
  /// begin so, too.
  private let endOfHead: Int
  /// Whether all bytes behind that which were seen so far are 0.
  private(set) var isEmpty = true

  init(of file: PlainFile, size: Int) throws {
    self.size = size
    var head = [UInt8](repeating: 0, count: 18)
    if size >= head.count { try head.withUnsafeMutableBytes { try file.read($0, at: 0) } }
    let pageSize = Int(head[16]) << 8 | Int(head[17])
    endOfHead =
      head.starts(with: "SQLite format 3\0".utf8) ? (pageSize > 1 ? pageSize : 65_536) : 0
  }

  mutating func hasPage(of pageSize: Int, in file: PlainFile) throws -> Bool {
    // The last page of a file that was cut is not whole.
    let count = (size + pageSize - 1) / pageSize
    var bytes = [UInt8](repeating: 0, count: pageSize)
    for index in 0..<min(count, Self.limit) {
      // The first half one after another, the others spread over the rest.
      let half = Self.limit / 2
      let page = index < half ? index : half + (index - half) * max(1, (count - half) / half)
      if page >= count { break }
      let length = min(pageSize, size - page * pageSize)
      let isRead =
        (try? bytes.withUnsafeMutableBytes {
          try file.read(.init(rebasing: $0[..<length]), at: page * pageSize)
        }) != nil
      // A bad sector.
      if !isRead { continue }
      let behind = bytes[min(length, max(0, endOfHead - page * pageSize))..<length]
      if isEmpty, behind.contains(where: { $0 != 0 }) { isEmpty = false }
      if length == pageSize, isTreePage(bytes, at: page == 0 ? 100 : 0) { return true }
    }
    return false
  }

  /// Whether a page is one of a tree: leaf or not, of a table or an index, with at least one cell.
  private func isTreePage(_ bytes: [UInt8], at head: Int) -> Bool {
    func number(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
    let headSize: Int
    switch bytes[head] {
    case 2, 5: headSize = 12
    case 10, 13: headSize = 8
    default: return false
    }
    let (free, cells, fragments) = (number(head + 1), number(head + 3), Int(bytes[head + 7]))
    let content = number(head + 5) == 0 ? 65_536 : number(head + 5)
    let pointers = head + headSize
    guard cells > 0, fragments <= 60, pointers + 2 * cells <= content, content < bytes.count,
      free == 0 || free >= content && free < bytes.count
    else { return false }
    let places = (0..<cells).map { number(pointers + 2 * $0) }
    // The content begins with a cell or free bytes. Up to three bytes each are in no list.
    let least = min(places.min()!, free == 0 ? bytes.count : free)
    return least - content <= fragments
      && places.allSatisfy { $0 >= content && $0 < bytes.count - 1 }
  }
}
