// Collecting what a file has, without reading much of it.

import Dflat
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat

extension DataFile {
  /// Files up to this size are read to count their objects.
  private static let countedBytes = 64 << 20

  /// What the file has.
  ///
  /// - Parameter countingAll: Whether to count the objects of large files, too. That reads an index
  ///   of each type; otherwise only some pages are read, whatever the size of the file.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func information(countingAll: Bool = false) throws -> FileInformation {
    try withToolErrors {
      try workspace.inspect(wholeFile: countingAll) {
        try information($0, countingAll: countingAll)
      }
    }
  }

  private func information(
    _ connection: Connection, countingAll: Bool
  ) throws -> FileInformation {
    func number(_ pragma: String) throws -> Int {
      Int(try connection.value("PRAGMA main.\(pragma)")?.integer ?? 0)
    }
    let status = FileStatus(path: path, isInWALMode: connection.headerSaysWAL)
    let counts = countingAll || status.bytes <= Self.countedBytes
    let tables = try StoredTables(connection)
    var entries = 0
    if tables.mains.contains(where: { $0.table == StoredType.dictionaryTable }) {
      entries = Int(
        try connection.value("SELECT count(*) FROM \(StoredType.dictionaryTable)")?.integer ?? 0)
    }
    let isEmpty = try connection.hasNoTables()
    let (pages, free) = (try number("page_count"), try number("freelist_count"))
    return FileInformation(
      path: path, bytes: status.bytes, logBytes: status.logBytes,
      pageBytes: try number("page_size"),
      pages: pages, freePages: free, journalMode: status.isInWALMode ? "wal" : "delete",
      autoVacuum: ["none", "full", "incremental"][min(max(try number("auto_vacuum"), 0), 2)],
      sqliteVersion: Connection.libraryVersion, libraryVersion: LibraryVersion.current,
      types: try types.map { try information($0, connection, counts: counts) },
      dictionaryEntries: entries, otherTables: tables.others,
      hazards: status.hazards(pages: pages, free: free, isEmpty: isEmpty))
  }

  private func information(
    _ type: StoredType, _ connection: Connection, counts: Bool
  ) throws -> TypeInformation {
    let table = type.table.quotedForSQL
    let last = try connection.value("SELECT max(rowid) FROM \(table)")?.integer
    let count =
      counts ? try connection.value("SELECT count(*) FROM \(table)")?.integer ?? 0 : last ?? 0
    let names =
      switch type.origin {
      case .kept: "kept"
      case .file: "file"
      case .unknown: "unknown"
      }
    return TypeInformation(
      name: type.name, fullName: type.fullName, table: type.table, rows: Int(count),
      rowsAreCounted: counts, names: names, problem: type.problem, shapes: type.shapes,
      indexes: try (type.entity?.indexes ?? []).map { index in
        IndexInformation(
          fields: type.entity?.fieldNames(ofIndex: index.table) ?? index.table,
          table: index.table, isUnique: index.isUnique,
          state: try state(of: index.table, last, connection))
      })
  }

  private func state(
    of side: String, _ last: Int64?, _ connection: Connection
  ) throws -> IndexInformation.State {
    let exists = try connection.value(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(side)])
    if exists == nil { return .missing }
    let reach = try connection.value("SELECT max(rowid) FROM \(side.quotedForSQL)")?.integer
    guard let last else { return .complete }
    return reach.map { $0 >= last } == true ? .complete : .partial
  }
}

extension Connection {
  /// Whether there is nothing in the file, no table and no view.
  func hasNoTables() throws(SQLiteError) -> Bool {
    try value("SELECT 1 FROM sqlite_master LIMIT 1") == nil
  }
}

extension String {
  /// The text as an SQL identifier.
  var quotedForSQL: String { quoted(by: "\"") }
}

/// What the file system knows of a file.
struct FileStatus {
  /// How much clocks of several machines may differ, in seconds.
  private static let clockTolerance = 120.0
  private(set) var bytes = 0
  private(set) var logBytes = 0
  private var hasIndexOfLog = false
  private var names = 1
  private var isLink = false
  private var network: String?
  private var isFromFuture = false
  let isInWALMode: Bool

  init(path: String, isInWALMode: Bool) {
    self.isInWALMode = isInWALMode
    var status = stat()
    if stat(path, &status) == 0 {
      bytes = Int(status.st_size)
      names = Int(status.st_nlink)
      isFromFuture = Self.modified(status) > Date() + Self.clockTolerance
    }
    network = NetworkFileSystem.name(of: path)
    if lstat(path, &status) == 0 { isLink = status.st_mode & S_IFMT == S_IFLNK }
    if stat(FileReplacement.path(of: "-wal", beside: path), &status) == 0 {
      logBytes = Int(status.st_size)
    }
    hasIndexOfLog = stat(FileReplacement.path(of: "-shm", beside: path), &status) == 0
  }

  private static func modified(_ status: stat) -> Date {
    #if canImport(Darwin)
      Date(timeIntervalSince1970: Double(status.st_mtimespec.tv_sec))
    #else
      Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec))
    #endif
  }

  func hazards(pages: Int, free: Int, isEmpty: Bool) -> [String] {
    var hazards: [String] = []
    if names > 1 {
      let problem = StorageError.severalNames(names, "")
      hazards.append("\(problem.message). Remove all names but one")
    }
    if isLink {
      hazards.append(
        "the path is a symbolic link: a program that replaces the link does not replace the file")
    }
    if let network {
      hazards.append(
        "the file is on a network file system (\(network)), where locks may not work: keep it on a "
          + "disk of this machine")
    }
    if isFromFuture {
      hazards.append(
        "the file was changed in the future: the clock went back since, or was wrong then. What is "
          + "due by time may be late")
    }
    if logBytes > 0, !hasIndexOfLog {
      hazards.append(
        "there is a log of \(logBytes) bytes that no program has open, after a crash or a copy: "
          + "do not separate it from the file. The next program that opens the file takes it over")
    }
    if isEmpty, lacksLog { hazards.append("\(Self.missingLog): \(Self.missingLogAdvice)") }
    if logBytes > max(64 << 20, bytes) {
      hazards.append(
        "the log has \(logBytes) bytes: a program that reads for long, or was stopped, keeps it "
          + "from being moved into the file")
    }
    if pages > 1000, free * 4 > pages {
      hazards.append("\(free) of \(pages) pages are free: a vacuum gives them back")
    }
    if Self.isOld(Connection.libraryVersion) {
      hazards.append(
        "SQLite \(Connection.libraryVersion) can lose transactions if one connection moves the log "
          + "into the file while another one writes. Dflat avoids it; other programs may not "
          + "(fixed in 3.51.3)")
    }
    return hazards
  }

  /// Whether no log is beside a file that may have had one.
  var lacksLog: Bool { isInWALMode && logBytes == 0 && !hasIndexOfLog }

  /// What is wrong with a file that lacks its log, and is empty.
  static let missingLog =
    "the file has a header and nothing else, as it is while everything is in its log, and no log "
    + "is beside it. If it is a copy, it was made without the file -wal, which has the objects"
  static let missingLogAdvice = "copy both, or use dflat backup"

  /// Whether a version of SQLite is older than 3.51.3.
  private static func isOld(_ version: String) -> Bool {
    let parts = version.split(separator: ".").compactMap { Int($0) }
    return parts.lexicographicallyPrecedes([3, 51, 3])
  }
}
