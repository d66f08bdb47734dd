// RollbackJournal: the pages as they were before a transaction that was interrupted.
//
//   header   magic 8, records 4, nonce 4, pages of the file before 4, sector size 4, page size 4,
//            filled up to a sector
//   record   page 4, its content before, checksum 4: the nonce and every 200th byte from the end
//
//  - Behind the records of a header, at the next sector, another one may stand.
//  - A header without records is from before the file was written to. A journal of which only the
//    header is zero is one of a transaction that was committed.
//  - The name of another journal may stand at the end, of a transaction over several files: if
//    that one is gone, the transaction was committed.
//
// Source: "Database File Format", section 3, and the comments on `pager_playback` in SQLite.

import Platform

/// A journal whose transaction has to be rolled back.
struct RollbackJournal {
  /// Where the content of pages stands.
  private(set) var pages: [Int: Int] = [:]
  /// How many pages the file had.
  private(set) var pageCount = 0
  /// Whether a record is damaged.
  private var isCut = false

  /// nil if there is nothing to roll back.
  init?(_ file: FileReader, pageSize: Int) {
    if Self.belongsToCommitted(file) { return nil }
    var position = 0
    while let header = Header(file, at: position, pageSize: pageSize) {
      if position == 0 { pageCount = header.pageCount }
      position += header.sectorSize
      guard readRecords(of: header, file, pageSize, &position) else {
        isCut = true
        break
      }
      position = (position + header.sectorSize - 1) / header.sectorSize * header.sectorSize
    }
    if pages.isEmpty { return nil }
  }

  /// Whether a journal that is not zeroed or empty cannot be read whole.
  static func isDamaged(_ file: FileReader, _ journal: RollbackJournal?) -> Bool {
    if let journal { return journal.isCut }
    guard file.size > 28, let start = file.bytes(at: 0, count: 28), !belongsToCommitted(file) else {
      return false
    }
    return start.contains { $0 != 0 } && !start.starts(with: magic)
  }

  private struct Header {
    /// How many records there are; nil if the journal was not told.
    let records: Int?
    let nonce: UInt32
    let pageCount: Int
    let sectorSize: Int

    init?(_ file: FileReader, at position: Int, pageSize: Int) {
      guard let bytes = file.bytes(at: position, count: 28), bytes.starts(with: magic) else {
        return nil
      }
      let numbers = bytes.withUnsafeBytes { bytes in
        (2..<7).compactMap { bytes.bigEndian(4 * $0, size: 4) }
      }
      guard numbers.count == 5, (32...65536).contains(numbers[3]), numbers[4] == pageSize else {
        return nil
      }
      records = numbers[0] == 0xFFFF_FFFF ? nil : numbers[0]
      nonce = UInt32(numbers[1])
      pageCount = numbers[2]
      sectorSize = numbers[3]
    }
  }

  /// - Returns: Whether all records are sound: what is behind a damaged one was not synchronized.
  private mutating func readRecords(
    of header: Header, _ file: FileReader, _ pageSize: Int, _ position: inout Int
  ) -> Bool {
    let possible = max(0, (file.size - position) / (pageSize + 8))
    for _ in 0..<min(header.records ?? possible, possible) {
      guard let record = file.bytes(at: position, count: pageSize + 8) else { return false }
      let (page, stated) = record.withUnsafeBytes {
        ($0.bigEndian(0, size: 4) ?? 0, $0.bigEndian(4 + pageSize, size: 4))
      }
      var sum = header.nonce
      for place in stride(from: pageSize - 200, to: 0, by: -200) {
        sum &+= UInt32(record[4 + place])
      }
      guard page > 0, stated == Int(sum) else { return false }
      if page <= pageCount, pages[page] == nil { pages[page] = position + 4 }
      position += pageSize + 8
    }
    return true
  }

  /// Whether the journal names one of several files, which is gone.
  private static func belongsToCommitted(_ file: FileReader) -> Bool {
    guard let end = file.bytes(at: file.size - 16, count: 16), Array(end[8...]) == magic else {
      return false
    }
    let length = end[..<4].reduce(0) { $0 << 8 | Int($1) }
    guard length > 0, length <= 4096,
      let name = file.bytes(at: file.size - 16 - length, count: length)
    else { return false }
    return !FileReader.exists(String(decoding: name, as: UTF8.self))
  }
}

private let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
