// BackedUpState: the pages of a backup in a folder, wherever in its chain they are.

import Dflat
import Platform
import SQLiteAccess

/// The content of a database as one of the backups has it: a whole one, and the pages of those that
/// follow it up to the one that is asked for.
final class BackedUpState {
  let pageSize: Int
  private(set) var pageCount: Int
  /// The whole backup, and the others in their order.
  private var files: [PlainFile]
  /// Where a page is that some backup has changed: the file, and where the page begins in it.
  private var places: [Int: (file: Int, offset: Int)] = [:]
  private let wholePageCount: Int
  /// The checksum of the whole backup, and then of the heads of all pages behind it in turn.
  private var checksum: UInt64

  /// Opens a chain, and checks everything in it against its checksums. Only a whole backup without
  /// one is taken as it is.
  /// - Parameter chain: A whole backup, and the backups after it.
  /// - Throws: `StorageError.corruptFile` if a backup is damaged, or does not belong to the one
  ///   before it.
  init(_ chain: [BackupFolder.Backup]) throws {
    let whole = try PlainFile(reading: chain[0].path)
    var head = [UInt8](repeating: 0, count: 100)
    try head.withUnsafeMutableBytes { try whole.read($0, at: 0) }
    let size = Int(head[16]) << 8 | Int(head[17])
    pageSize = size == 1 ? 65_536 : size
    guard head.starts(with: "SQLite format 3\0".utf8), ChangedPages.isPageSize(pageSize) else {
      throw StorageError(.corruptFile, message: "it is no SQLite database", path: whole.path)
    }
    checksum = try Checksum.of(whole)
    if let known = chain[0].checksum, known != checksum {
      throw StorageError(
        .corruptFile, message: "it was changed since it was made: its checksum is another one",
        path: whole.path)
    }
    pageCount = try whole.size() / pageSize
    wholePageCount = pageCount
    files = [whole]
    for backup in chain.dropFirst() { try append(backup) }
  }

  private func append(_ backup: BackupFolder.Backup) throws {
    let file = try PlainFile(reading: backup.path)
    let changes = try ChangedPages(headOf: file)
    // A new page is an entry, but for the one that SQLite leaves out of large files.
    guard changes.pageSize == pageSize, changes.number == backup.number,
      changes.pageCount <= pageCount + changes.entries + 1, changes.base.fits(try tie())
    else {
      throw StorageError(
        .corruptFile,
        message: "it does not follow the backup before it, which was changed or exchanged",
        path: file.path)
    }
    files.append(file)
    pageCount = changes.pageCount
    checksum = Checksum.of(changes.head, from: checksum)
    try withPage { bytes in
      for index in 0..<changes.entries {
        let (page, head) = try changes.readEntry(index, of: file, into: bytes)
        checksum = Checksum.of(head, from: checksum)
        places[page] = (
          files.count - 1, changes.offset(ofEntry: index) + ChangedPages.entryHeadSize
        )
      }
    }
  }

  /// Reads a page.
  func read(_ page: Int, into bytes: UnsafeMutableRawBufferPointer) throws {
    if let place = places[page] { return try files[place.file].read(bytes, at: place.offset) }
    if page <= wholePageCount { return try files[0].read(bytes, at: (page - 1) * pageSize) }
    // SQLite leaves one page of large files out.
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// What ties a backup to this state. Its checksum is never 0, which older backups have.
  func tie() throws -> ChangedPages.Tie {
    try withPage { bytes in
      try read(1, into: bytes)
      return ChangedPages.Tie(
        firstPage: Checksum.of(UnsafeRawBufferPointer(bytes)), all: max(1, checksum))
    }
  }

  /// Calls `body` with room for a page.
  func withPage<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
    try withUnsafeTemporaryAllocation(byteCount: pageSize, alignment: 16, body)
  }

  /// Writes the state into a new file.
  /// - Parameter progress: Called now and then with the numbers of pages that are left, and of all.
  func write(to file: PlainFile, _ progress: (Int, Int) -> Void) throws {
    try withPage { bytes in
      for page in 1...max(1, pageCount) {
        try read(page, into: bytes)
        try file.write(UnsafeRawBufferPointer(bytes), at: (page - 1) * pageSize)
        if page % 1024 == 0 { progress(pageCount - page, pageCount) }
      }
    }
    try file.truncate(to: pageCount * pageSize)
    try file.sync()
    progress(0, pageCount)
  }
}

/// Receives the pages of a database, and keeps those in a file that another state does not have.
final class ChangesSink: PageSink {
  private let base: BackedUpState
  private let file: PlainFile
  private(set) var pages: ChangedPages
  private(set) var size = 0
  /// Which entry a changed page is.
  private var entries: [Int: Int] = [:]

  init(_ base: BackedUpState, into file: PlainFile, number: Int, after previous: Int) throws {
    self.base = base
    self.file = file
    pages = ChangedPages(
      pageSize: base.pageSize, number: number, previous: previous, base: try base.tie())
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    guard bytes.count == pages.pageSize, offset % pages.pageSize == 0 else {
      throw StorageError(
        .other, message: "SQLite has written \(bytes.count) bytes at \(offset), which is no page",
        path: file.path)
    }
    let page = offset / pages.pageSize + 1
    size = max(size, offset + bytes.count)
    if entries[page] == nil {
      if page <= base.pageCount, try isSame(page, bytes) { return }
      entries[page] = pages.entries
      pages.entries += 1
    }
    let place = pages.offset(ofEntry: entries[page]!)
    let head = ChangedPages.entryHead(page, bytes)
    try head.withUnsafeBytes { try file.write($0, at: place) }
    try file.write(bytes, at: place + head.count)
  }

  private func isSame(_ page: Int, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
    try base.withPage { other in
      try base.read(page, into: other)
      return memcmp(bytes.baseAddress!, other.baseAddress!, bytes.count) == 0
    }
  }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    let page = offset / pages.pageSize + 1
    try base.withPage { content in
      if let entry = entries[page] {
        try file.read(content, at: pages.offset(ofEntry: entry) + ChangedPages.entryHeadSize)
      } else {
        try base.read(page, into: content)
      }
      let start = offset % pages.pageSize
      bytes.copyMemory(from: .init(rebasing: content[start..<start + bytes.count]))
    }
  }

  func truncate(to size: Int) throws {
    if let last = entries.keys.max(), last * pages.pageSize > size {
      throw StorageError(
        .other, message: "SQLite has cut what it had written to \(size) bytes", path: file.path)
    }
    self.size = size
  }

  /// Writes the head, and everything to the disk.
  func finish() throws {
    pages.pageCount = size / pages.pageSize
    try pages.head.withUnsafeBytes { try file.write($0, at: 0) }
    try file.sync()
  }
}
