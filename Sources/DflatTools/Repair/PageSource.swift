// PageSource: the pages of a damaged file and of its log, as they are on the disk.
//
//  - The files are opened for reading and read with `pread`. Nothing asks SQLite.
//  - The current version of a page is the last one in the log that was committed, or else the one
//    in the file. Other versions of it are kept aside: `alternates`.
//  - If a rollback journal is beside the file, its pages are current: the transaction that has
//    written others was interrupted.
//  - A part of a file that the disk cannot read counts as zeros.
//  - The size of a page is what the header says, unless the pages themselves say otherwise.

import Platform
import SQLiteDflat

/// The pages of a file and its log.
final class PageSource {
  /// A version of a page: numbers up to `pageCount` are current pages, and those above are
  /// alternates.
  typealias Place = Int

  let path: String
  let pageSize: Int
  /// The part of each page that SQLite uses.
  let usableSize: Int
  /// The number of the last page.
  let pageCount: Int
  /// Other versions of pages, the newest first, as far as they are worth a look.
  let alternates: [LogFrames.Version]
  /// What the log says; nil if there is none.
  let log: LogFrames?
  /// How many sectors could not be read.
  var unreadableSectors: Int {
    [file, logFile, journalFile].reduce(0) { $0 + ($1?.unreadableSectors.count ?? 0) }
  }
  private let file: FileReader
  private let logFile: FileReader?
  private let journalFile: FileReader?
  private let journal: RollbackJournal?
  /// Whether a journal is there that is neither committed nor whole.
  let hasDamagedJournal: Bool
  private var cache: [(place: Place, page: PageBuffer)?]

  /// How many pages may be missing between the end of the file and a page of the log.
  private static let greatestGap = 1 << 20

  /// - Throws: `ToolError` if the file cannot be opened.
  init(path: String) throws {
    self.path = path
    let file = try FileReader(path: path)
    self.file = file
    let logPath = FileReplacement.path(of: "-wal", beside: path)
    let logFile = FileReader.exists(logPath) ? try FileReader(path: logPath) : nil
    self.logFile = logFile
    let format = PageFormat(file, logFile)
    pageSize = format.pageSize
    usableSize = format.usableSize
    let log = logFile.flatMap { LogFrames($0, pageSize: format.pageSize) }
    self.log = log
    let journalPath = FileReplacement.path(of: "-journal", beside: path)
    let journalFile = FileReader.exists(journalPath) ? try FileReader(path: journalPath) : nil
    self.journalFile = journalFile
    let journal = journalFile.flatMap { RollbackJournal($0, pageSize: format.pageSize) }
    self.journal = journal
    hasDamagedJournal =
      journalFile.map { RollbackJournal.isDamaged($0, journal) } ?? false
    let pagesInFile = (file.size + format.pageSize - 1) / format.pageSize
    // No checksum says that the number in the journal is right.
    let before = journal.map(\.pageCount) ?? pagesInFile
    let inFile =
      before <= pagesInFile + (journal?.pages.count ?? 0) ? before : pagesInFile
    // A log may have pages far behind the end of a file that was cut, but not any number.
    let last = inFile + Self.greatestGap
    pageCount = max(inFile, log?.current.keys.filter { $0 <= last }.max() ?? 0)
    // What the file itself has of pages in the log is older.
    let replaced = (log?.current.keys).map { $0.filter { $0 <= inFile }.sorted() } ?? []
    alternates =
      (log?.alternates ?? [])
      + replaced.map {
        LogFrames.Version(
          page: $0, offset: ($0 - 1) * format.pageSize, kind: .older, isInLog: false)
      }
    cache = Array(repeating: nil, count: 1024)
  }

  /// The number of the page that a place is a version of.
  func number(of place: Place) -> Int {
    place <= pageCount ? place : alternates[place - pageCount - 1].page
  }

  /// Reads a version of a page; nil if there is no such page.
  func page(_ place: Place) -> PageBuffer? {
    guard place > 0, place <= pageCount + alternates.count else { return nil }
    let slot = place % cache.count
    if let known = cache[slot], known.place == place { return known.page }
    var (reader, offset) = (file, (place - 1) * pageSize)
    if place > pageCount {
      let version = alternates[place - pageCount - 1]
      offset = version.offset
      if version.isInLog, let logFile { reader = logFile }
    } else if let frame = log?.current[place], let logFile {
      (reader, offset) = (logFile, frame)
    } else if let record = journal?.pages[place], let journalFile {
      (reader, offset) = (journalFile, record)
    }
    let page = PageBuffer(size: pageSize) { reader.read(into: $0, at: offset) }
    cache[slot] = (place, page)
    return page
  }

  /// Whether the current version of a page is in the log.
  func isInLog(_ number: Int) -> Bool { log?.current[number] != nil }
}

/// A file that is read at any place.
final class FileReader {
  let path: String
  let size: Int
  private let descriptor: Int32
  /// The numbers of the sectors of 512 bytes that could not be read.
  private(set) var unreadableSectors: Set<Int> = []

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0
  }

  /// - Throws: `ToolError` if the file cannot be opened.
  init(path: String) throws {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT {
        throw ToolError(.noSuchFile, "there is no file \(path)", advice: "check the path")
      }
      throw ToolError(.storage, "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ToolError(.storage, "\(path) is no file", advice: "check the path")
    }
    size = Int(status.st_size)
  }

  deinit { close(descriptor) }

  /// The bytes of a range; nil if they are not all there.
  func bytes(at position: Int, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return bytes.withUnsafeMutableBytes { read(into: $0, at: position).isEmpty } ? bytes : nil
  }

  /// Fills the memory from a position on. What is behind the end of the file, or cannot be read,
  /// is left as it is.
  /// - Returns: The parts of the memory that are left.
  func read(into memory: UnsafeMutableRawBufferPointer, at position: Int) -> [Range<Int>] {
    guard position >= 0, position < size else { return [0..<memory.count] }
    var done = 0
    while done < memory.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(position + done))
      if count > 0 {
        done += count
      } else if count == 0 {
        return [done..<memory.count]
      } else if errno != EINTR {
        return readSectors(into: memory, from: done, at: position)
      }
    }
    return []
  }

  /// Reads what can be read, sector by sector.
  private func readSectors(
    into memory: UnsafeMutableRawBufferPointer, from first: Int, at position: Int
  ) -> [Range<Int>] {
    var left: [Range<Int>] = []
    var start = first
    while start < memory.count {
      let (sector, offset) = (position + start).quotientAndRemainder(dividingBy: 512)
      let end = min(start + 512 - offset, memory.count)
      let part = UnsafeMutableRawBufferPointer(rebasing: memory[start..<end])
      let count = pread(descriptor, part.baseAddress, part.count, off_t(position + start))
      if count < 0 { unreadableSectors.insert(sector) }
      if count < part.count { left.append(start + max(0, count)..<end) }
      start = end
    }
    return left
  }
}
