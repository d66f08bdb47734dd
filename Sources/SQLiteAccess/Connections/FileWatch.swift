// Whether an open database is still the one at its path.
//
// A file can be removed, moved or replaced while it is open. SQLite goes on with the open file,
// which no connection can open any more: commits succeed, and are lost when the last connection is
// closed. The same holds for the write-ahead log beside it and for the index of that log, which new
// connections open by their names. So:
//
//  - A commit asks where the path leads before it is carried out, with one system call. If the path
//    does not lead to the open file, the transaction is rolled back.
//  - The log and its index are looked at with the first of the commits in `logInterval`. Their
//    contents are in reach of the open connection, which can still copy them into the file.
//  - A connection that is opened beside others compares its files with theirs before it reads
//    anything. Reading would make SQLite remove the log of a file that was cut to 0 bytes.
//  - The file system may refuse to answer, because a directory became inaccessible for example.
//    Then nothing is known to have happened.
//  - A path may lead through symbolic links. SQLite puts the log beside the file that they lead to,
//    so that name and the given one are both looked at.
//
// A file's device and inode identify it as long as it is open: until then the inode is not reused.

import CSQLite
import Platform

/// Identifies a file, as long as it is open.
package struct FileIdentity: Equatable, Sendable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// A number other than 0 that in practice no other file has.
  package var number: UInt64 { (inode &* 0x9E37_79B9_7F4A_7C15 ^ device) | 1 << 63 }

  /// nil if no file can be found there.
  init?(path: UnsafePointer<CChar>) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// The files of an open database.
struct OpenFiles: Equatable, Sendable {
  var main: FileIdentity
  /// The write-ahead log and its index; nil if they do not exist, or are not looked at.
  var log: FileIdentity?
  var index: FileIdentity?
}

/// Whether this process removes files itself while connections may use them: at its end, when other
/// threads still run. What was in them ends with the process.
package enum FileRemovals {
  private static let state = Atomic(false)

  package static var areOwn: Bool {
    get { state.load(ordering: .acquiring) }
    set { state.store(newValue, ordering: .releasing) }
  }
}

/// Compares the files of a connection with those at its path. One thread uses it at a time.
final class FileWatch {
  /// How often commits look at the log and its index, in nanoseconds.
  private static let logInterval: UInt64 = 10_000_000

  /// SQLite's own names, with links resolved; valid until the handle is closed.
  private let name: UnsafePointer<CChar>
  private let logName: UnsafePointer<CChar>
  private let indexName: String
  /// The path as given, made absolute; nil if that is SQLite's name.
  private let givenPath: String?
  /// The files that the connection has open.
  private(set) var files: OpenFiles
  /// Whether the file was seen to have content.
  private var wasFilled = false
  private var nextLook: UInt64 = 0

  /// nil if the database is no file, or the file system gives files no lasting numbers.
  init?(_ database: OpaquePointer, path: String) {
    guard let name = sqlite3_db_filename(database, "main"), name[0] != 0,
      let logName = sqlite3_filename_wal(name)
    else { return nil }
    let plainName = String(cString: name)
    let absolutePath = Self.absolute(path)
    self.name = name
    self.logName = logName
    indexName = plainName + "-shm"
    givenPath = absolutePath == plainName ? nil : absolutePath
    // SQLite knows the inode of what it has opened. If another one is at the path, the file was
    // replaced a moment ago: the next look finds it.
    for _ in 0..<3 {
      var status = stat()
      var hasMoved: Int32 = 0
      guard lstat(name, &status) == 0 else { continue }
      sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
      if hasMoved != 0 { continue }
      files = OpenFiles(main: FileIdentity(status))
      wasFilled = status.st_size > 0
      return
    }
    return nil
  }

  /// The path from the root, since the current directory may change.
  static func absolute(_ path: String) -> String {
    if path.utf8.first == UInt8(ascii: "/") { return path }
    guard let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return String(cString: directory) + "/" + path
  }

  /// Makes SQLite ask before each commit.
  func install(on database: OpaquePointer) {
    sqlite3_commit_hook(
      database,
      { context in
        guard let context else { return 0 }
        return Unmanaged<FileWatch>.fromOpaque(context).takeUnretainedValue().mayCommit() ? 0 : 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Begins to look at the log and its index, which exist now if the database is in WAL mode.
  func watchLog() {
    files.log = FileIdentity(path: logName)
    files.index = FileIdentity(path: indexName)
  }

  private func mayCommit() -> Bool {
    if fileProblem() != nil { return false }
    if files.log == nil { return true }
    let now = MonotonicTime.now
    if now < nextLook { return true }
    if logProblem() != nil { return false }
    nextLook = now &+ Self.logInterval
    return true
  }

  // MARK: What has happened

  var logPath: UnsafePointer<CChar> { logName }
  var looksPerCommit: Int { givenPath == nil ? 1 : 2 }

  /// What has happened to the file, its log or the log's index; nil if nothing is known.
  func problem() -> String? { fileProblem() ?? logProblem() }

  /// What has happened to the file; nil if nothing is known.
  func fileProblem() -> String? {
    var status = stat()
    if let problem = problem(lstat(name, &status), status) { return problem }
    guard let givenPath else { return nil }
    return problem(stat(givenPath, &status), status)
  }

  private func problem(_ result: Int32, _ status: stat) -> String? {
    if let problem = Self.problem(result, status, files.main) { return problem }
    if result != 0 { return nil }
    if status.st_size > 0 {
      wasFilled = true
    } else if wasFilled {
      return "the file was cut to 0 bytes while it was open"
    }
    return nil
  }

  /// What has happened to a file so that a new connection cannot open it; nil if nothing is known.
  static func problem(at path: String, _ files: OpenFiles) -> String? {
    var status = stat()
    return problem(stat(path, &status), status, files.main)
  }

  /// - Parameters:
  ///   - result: Of the system call that has just filled `status`, or set `errno`.
  ///   - expected: The file that is open.
  private static func problem(
    _ result: Int32, _ status: stat, _ expected: FileIdentity
  ) -> String? {
    if result != 0 {
      let isGone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP
      if !isGone || FileRemovals.areOwn { return nil }
      return "the file was removed or moved while it was open"
    }
    if FileIdentity(status) == expected { return nil }
    return switch status.st_mode & S_IFMT {
    case S_IFDIR: "a directory was put in place of the file while it was open"
    case S_IFLNK: "a symbolic link was put in place of the file while it was open"
    default: "another file was put in its place while it was open"
    }
  }

  private func logProblem() -> String? {
    guard let log = files.log else { return nil }
    if let problem = Self.problem(logName, log, "the write-ahead log (-wal) beside the file") {
      // A connection that is the only one can end WAL mode, which removes the log. Its commit then
      // has a journal.
      let journal = sqlite3_filename_journal(name)
      if let journal, FileIdentity(path: journal) != nil {
        files.log = nil
        files.index = nil
        return nil
      }
      return problem
    }
    return files.index.flatMap {
      Self.problem(indexName, $0, "the index (-shm) of the log beside the file")
    }
  }

  private static func problem(
    _ path: UnsafePointer<CChar>, _ expected: FileIdentity, _ what: String
  ) -> String? {
    var status = stat()
    if stat(path, &status) != 0 {
      if errno != ENOENT || FileRemovals.areOwn { return nil }
      return "\(what) was removed while it was open"
    }
    return FileIdentity(status) == expected ? nil : "\(what) was replaced while it was open"
  }

  /// What tells that these files are not those of another connection; nil if they may be.
  func difference(to other: OpenFiles) -> String? {
    var status = stat()
    if files.main != other.main {
      return "another file was put in its place while it was open"
    }
    if stat(name, &status) == 0, status.st_size == 0 {
      return "the file was cut to 0 bytes while it was open"
    }
    if let log = other.log,
      let problem = Self.problem(logName, log, "the write-ahead log (-wal) beside the file")
    {
      return problem
    }
    return other.index.flatMap {
      Self.problem(indexName, $0, "the index (-shm) of the log beside the file")
    }
  }

  /// Whether the log is gone or empty, and only that has happened. Then no other connection can
  /// have written to another log, and this connection can copy the one that it has open into the
  /// file.
  var canSaveLog: Bool {
    guard files.log != nil, fileProblem() == nil, let index = files.index,
      FileIdentity(path: indexName) == index
    else { return false }
    var status = stat()
    return stat(logName, &status) != 0 ? errno == ENOENT : status.st_size == 0
  }
}

extension Connection {
  /// Checks that the path still leads to the file that this connection has open, and that the
  /// write-ahead log beside it is the open one.
  ///
  /// Each commit of a connection that may write does so, as does a ``ReaderPool`` that opens a
  /// reader. Other programs may call it from time to time. It costs a few system calls.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/fileReplaced``, if the file or its log was removed,
  ///   moved or replaced. ``backup(to:pagesPerStep:progress:)-(Connection,_,_)`` still copies the
  ///   open file. If the path leads to it again, the connection works as before.
  public func checkFile() throws(SQLiteError) {
    if let problem = watch?.problem() { throw replaced(problem) }
  }

  /// A path from the root, since the current directory may change. One that cannot be meant, such
  /// as `~/notes.db`, stays as it is, for the error that names it.
  package static func absolutePath(_ path: String) -> String {
    path.isEmpty || path.hasPrefix("~") ? path : FileWatch.absolute(path)
  }

  /// Whether the path is known not to lead to the open file any more.
  package var isReplaced: Bool { watch?.fileProblem() != nil }

  /// The database file that this connection has open, which never changes; nil if that is not
  /// known.
  package var openFile: FileIdentity? { watch?.files.main }

  /// How many system calls a commit makes to see where the path leads, but for those about the log.
  var looksPerCommit: Int { watch.map(\.looksPerCommit) ?? 0 }

  /// The files that this connection has open; nil if that is not known.
  var openFiles: OpenFiles? { watch?.files }

  /// Checks that the connection, which has not read anything yet, has the same files as another
  /// one.
  func expect(_ files: OpenFiles?) throws(SQLiteError) {
    if let files, let difference = watch?.difference(to: files) { throw replaced(difference) }
  }

  /// Copies the log into the file if the log was removed and nothing else has happened, so that
  /// what is committed is in a file that can be opened. Call it outside transactions.
  package func saveRemovedLog() throws(SQLiteError) {
    if watch?.canSaveLog == true { try checkpoint(.restart, timeoutMilliseconds: 100) }
  }

  private func replaced(_ problem: String) -> SQLiteError {
    SQLiteError(code: .fileReplaced, message: problem, path: path)
  }

  /// The error, or what has become of the file if that may be its cause.
  func explained(_ error: SQLiteError) -> SQLiteError {
    guard let watch else { return error }
    let problem: String
    switch error.extendedCode {
    case ResultCode.Extended.constraintCommitHook:
      // It may be in place again by now.
      problem = watch.problem() ?? "another file was in its place when the transaction ended"
    case ResultCode.Extended.shortRead where FileIdentity(path: watch.logPath) != nil:
      problem =
        watch.problem()
        ?? "the write-ahead log (-wal) beside the file was cut or replaced while it was open"
    default:
      switch error.code {
      case .io, .corrupt, .notADatabase, .cantOpen, .readOnly, .protocol, .error:
        guard let found = watch.problem() else { return error }
        problem = found
      default: return error
      }
    }
    var explained = replaced(problem)
    explained.extendedCode = error.extendedCode
    explained.sql = error.sql
    return explained
  }
}
