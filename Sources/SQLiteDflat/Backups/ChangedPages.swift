// ChangedPages: a backup that has only the pages which differ from those of the one before it.
//
// Numbers are little-endian.
//
//   head, 64 bytes   "DflatPgs", version 1 (4 bytes), size of a page (4), number of pages of the
//                    database (4), number of entries (4), number of this backup (4), number of the
//                    one before it (4), checksum of the first page of that one (8), checksum of the
//                    whole of that one (8), 8 bytes of 0, checksum of the bytes before (8)
//   each entry       number of the page (4), 4 bytes of 0, checksum of number and page (8), page
//
// The entries are in no order, and no page is there twice. The checksums tie a backup to the one
// before it (BackedUpState). Older backups have the first one alone, which in WAL mode many states
// of a file have in common, and 0 in place of the second.

import Dflat
import Platform

/// Where the pages of a backup are.
struct ChangedPages {
  static let headSize = 64
  static let entryHeadSize = 16

  var pageSize: Int
  /// The number of pages of the database.
  var pageCount: Int
  var entries = 0
  var number: Int
  var previous: Int
  /// What ties it to the backup before.
  var base: Tie

  /// Two checksums of what a backup builds on.
  struct Tie {
    /// That of the first page.
    var firstPage: UInt64
    /// That of everything; 0 if it is not known.
    var all: UInt64

    /// Whether the two are of the same state.
    func fits(_ other: Tie) -> Bool {
      firstPage == other.firstPage && (all == other.all || all == 0 || other.all == 0)
    }
  }

  var entrySize: Int { Self.entryHeadSize + pageSize }

  /// Where an entry begins.
  func offset(ofEntry index: Int) -> Int { Self.headSize + index * entrySize }

  /// A head, with its checksum.
  var head: [UInt8] {
    var bytes = Array("DflatPgs".utf8)
    for number in [1, pageSize, pageCount, entries, number, previous] {
      bytes.append(littleEndian: UInt32(number))
    }
    bytes.append(littleEndian: base.firstPage)
    bytes.append(littleEndian: base.all)
    bytes += [UInt8](repeating: 0, count: 8)
    bytes.append(littleEndian: bytes.withUnsafeBytes { Checksum.of($0) })
    return bytes
  }

  /// Reads the head of a file.
  /// - Throws: `StorageError.corruptFile` if it is none.
  init(headOf file: PlainFile) throws {
    var bytes = [UInt8](repeating: 0, count: Self.headSize)
    try bytes.withUnsafeMutableBytes { try file.read($0, at: 0) }
    func number(_ offset: Int) -> Int { Int(bytes.number(at: offset, as: UInt32.self)) }
    let sum = bytes[..<56].withUnsafeBytes { Checksum.of($0) }
    guard bytes.starts(with: "DflatPgs".utf8), sum == bytes.number(at: 56, as: UInt64.self) else {
      throw StorageError(
        .corruptFile, message: "it is no backup of changed pages, or its head is damaged",
        path: file.path)
    }
    if number(8) != 1 {
      throw StorageError(
        .cannotOpen, message: "it has version \(number(8)), and this library knows version 1",
        path: file.path, advice: "use the version of the library that has made it")
    }
    pageSize = number(12)
    pageCount = number(16)
    entries = number(20)
    self.number = number(24)
    previous = number(28)
    base = Tie(
      firstPage: bytes.number(at: 32, as: UInt64.self), all: bytes.number(at: 40, as: UInt64.self))
    guard Self.isPageSize(pageSize), entries <= pageCount,
      try file.size() == offset(ofEntry: entries)
    else {
      throw StorageError(.corruptFile, message: "its size is wrong", path: file.path)
    }
  }

  /// Whether a database may have pages of a size.
  static func isPageSize(_ size: Int) -> Bool {
    size >= 512 && size <= 65_536 && size & (size - 1) == 0
  }

  init(pageSize: Int, number: Int, previous: Int, base: Tie) {
    self.pageSize = pageSize
    self.number = number
    self.previous = previous
    self.base = base
    pageCount = 0
  }

  /// The first bytes of an entry.
  static func entryHead(_ page: Int, _ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var head: [UInt8] = []
    head.append(littleEndian: UInt32(page))
    head.append(littleEndian: UInt32(0))
    head.append(littleEndian: Checksum.of(bytes, from: UInt64(page)))
    return head
  }

  /// Reads an entry and checks it.
  /// - Parameter bytes: Receives the page.
  /// - Returns: The number of the page, and what stands before it.
  @discardableResult
  func readEntry(
    _ index: Int, of file: PlainFile, into bytes: UnsafeMutableRawBufferPointer
  ) throws -> (page: Int, head: [UInt8]) {
    var head = [UInt8](repeating: 0, count: Self.entryHeadSize)
    try head.withUnsafeMutableBytes { try file.read($0, at: offset(ofEntry: index)) }
    try file.read(bytes, at: offset(ofEntry: index) + Self.entryHeadSize)
    let page = Int(head.number(at: 0, as: UInt32.self))
    guard page > 0, page <= pageCount, head == Self.entryHead(page, UnsafeRawBufferPointer(bytes))
    else {
      throw StorageError(.corruptFile, message: "its entry \(index) is damaged", path: file.path)
    }
    return (page, head)
  }
}

/// A checksum of 64 bits against damage, not against intent.
enum Checksum {
  /// The checksum of a file. Its last bytes, if they are fewer than 8, only count as its size.
  static func of(_ file: PlainFile) throws -> UInt64 {
    let size = try file.size()
    var sum = UInt64(size)
    var bytes = [UInt8](repeating: 0, count: 1 << 18)
    for offset in stride(from: 0, to: size & ~7, by: bytes.count) {
      let count = min(bytes.count, size & ~7 - offset)
      try bytes.withUnsafeMutableBytes { bytes in
        let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        try file.read(part, at: offset)
        sum = of(UnsafeRawBufferPointer(part), from: sum)
      }
    }
    return sum
  }

  static func of(_ bytes: [UInt8], from start: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { of($0, from: start) }
  }

  /// - Parameters:
  ///   - bytes: A multiple of 8 bytes.
  ///   - start: What the checksum begins with.
  static func of(_ bytes: UnsafeRawBufferPointer, from start: UInt64 = 0) -> UInt64 {
    var sum = start ^ 0x9E37_79B9_7F4A_7C15
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      sum = (sum ^ word) &* 0xFF51_AFD7_ED55_8CCD
      sum ^= sum >> 32
    }
    return sum
  }
}

extension [UInt8] {
  fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate func number<T: FixedWidthInteger>(at offset: Int, as type: T.Type) -> T {
    T(littleEndian: withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) })
  }
}
