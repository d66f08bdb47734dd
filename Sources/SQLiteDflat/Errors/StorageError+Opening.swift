// Why a database cannot be opened, according to the file system.
//
// SQLite reports "unable to open database file" whatever the reason. After a failure the path is
// therefore examined again. The result only goes into the error message; no code depends on it.

import Dflat
package import SQLiteAccess
import Platform

extension StorageError {
  static func missingFile(_ path: String) -> StorageError {
    StorageError(.cannotOpen, message: "there is no such file yet", path: path)
  }

  /// - Parameters:
  ///   - path: The database.
  ///   - error: SQLite's error.
  ///   - isReadOnly: Whether the file was to be opened for reading only.
  init(opening path: String, _ error: SQLiteError, isReadOnly: Bool) {
    let plain = StorageError(error)
    let problem = error.isOutOfDescriptors ? nil : FileProblem(path, error, isReadOnly: isReadOnly)
    self.init(
      plain.cause, message: problem?.message ?? plain.message,
      details: problem == nil ? plain.details : "code \(error.extendedCode)", underlying: error,
      path: path,
      advice: problem?.advice
        ?? (error.code == .format || error.isOutOfDescriptors ? plain.advice : nil))
  }

  /// SQLite keeps a log for each name of a file, and programs see only that of theirs.
  package static func severalNames(_ count: Int, _ path: String) -> StorageError {
    StorageError(
      .other,
      message: "the file has \(count) names (hard links): programs that use different ones lose "
        + "each other's transactions",
      path: path, advice: "remove all names but one")
  }

  /// Why SQLite could not change a file or what is beside it, according to the file system; nil if
  /// nothing wrong is found.
  package init?(changing path: String, _ error: SQLiteError) {
    guard let problem = FileProblem(FileProblem.directory(of: path), path, isReadOnly: false) else {
      return nil
    }
    self.init(
      .readOnly, message: problem.message, details: "code \(error.extendedCode)",
      underlying: error, path: path, advice: problem.advice)
  }

  /// An error of a process that has too many open files; nil for all others.
  init?(withoutDescriptors error: SQLiteError) {
    guard error.isOutOfDescriptors else { return nil }
    self.init(
      .cannotOpen,
      message: "no file descriptor is free: "
        + String(cString: strerror(error.systemErrorNumber)),
      details: "code \(error.extendedCode)", underlying: error, path: error.path,
      advice: "close files that are not needed, or raise the limit of open files")
  }

  /// An error of reading a directory as a file; nil for all others.
  init?(readingDirectory error: SQLiteError) {
    guard error.code == .io, let path = error.path,
      let problem = FileProblem(path, error, isReadOnly: true)
    else { return nil }
    self.init(
      .cannotOpen, message: problem.message, details: "code \(error.extendedCode)",
      underlying: error, path: path, advice: problem.advice)
  }
}

/// What is wrong with a path.
private struct FileProblem {
  let message: String
  let advice: String

  init(_ message: String, advice: String) {
    self.message = message
    self.advice = advice
  }

  /// nil if nothing wrong is found.
  init?(_ path: String, _ error: SQLiteError, isReadOnly: Bool) {
    if error.code == .notADatabase {
      self.init(
        "it is no SQLite database, or is encrypted",
        advice: "check the path: it may be another program's file")
      return
    }
    // SQLite opens a directory for reading, and then cannot read it.
    let isUnreadable = error.code == .io && Self.kind(of: path) == S_IFDIR
    guard
      error.isCantOpen || error.isReadOnly || error.code == .permission || error.code == .auth
        || isUnreadable
    else { return nil }
    if path.isEmpty || path.utf8.contains(0) {
      self.init(
        "the path is empty, or contains NUL", advice: "give the path of a file that can exist")
    } else if path.utf8.split(separator: UInt8(ascii: "/")).last.map({ $0.count > 255 - 8 }) == true
    {
      self.init(
        "the name of the file is too long: SQLite adds up to 8 bytes for the files beside it",
        advice: "give it a name of at most 247 bytes")
    } else if Self.kind(of: path) == S_IFDIR {
      self.init("it is a directory", advice: "give the path of a file in it")
    } else if Self.kind(of: path) == nil, errno == ELOOP {
      self.init(
        "it is a symbolic link that leads to itself",
        advice: "let it lead to a file, or give another path")
    } else {
      self.init(Self.directory(of: path), path, isReadOnly: isReadOnly)
    }
  }

  fileprivate init?(_ directory: String, _ path: String, isReadOnly: Bool) {
    switch Self.kind(of: directory) {
    case S_IFDIR: break
    case nil where errno == ENOENT:
      self.init(
        "the directory \(directory) does not exist",
        advice: path.hasPrefix("~")
          ? "Swift does not expand '~': open "
            + "URL.homeDirectory.appending(path: \"\(path.drop { $0 == "~" || $0 == "/" })\")"
          : "create the directory first, or give another path")
      return
    case nil:
      self.init(
        "the directory \(directory) cannot be reached: \(Self.systemError)",
        advice: "check the path and the permissions of its directories")
      return
    default:
      self.init("\(directory) is a file and no directory", advice: "give another path")
      return
    }
    let exists = Self.kind(of: path) != nil
    if !exists, isReadOnly {
      self.init(
        "there is no such file, and a read-only workspace does not create one",
        advice: "check the path, or open it for writing")
    } else if !exists, access(directory, W_OK | X_OK) != 0 {
      self.init(
        "this process may not create a file in \(directory): \(Self.systemError)",
        advice: "make the directory writable, or give another path")
    } else if exists, access(path, R_OK) != 0 {
      self.init(
        "this process may not read the file: \(Self.systemError)",
        advice: "make the file readable, or give another path")
    } else if exists, !isReadOnly, access(path, W_OK) != 0 {
      self.init(
        "this process may not write the file: \(Self.systemError)",
        advice: "make the file writable, or set isReadOnly to only read")
    } else if exists, !isReadOnly, access(directory, W_OK | X_OK) != 0 {
      self.init(
        "this process may not create the log beside the file, in \(directory): "
          + Self.systemError,
        advice: "make the directory writable, or set isReadOnly to only read")
    } else {
      return nil
    }
  }

  /// The kind of file at a path, as `S_IFMT`; nil, with `errno` set, if there is none.
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  fileprivate static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static var systemError: String { String(cString: strerror(errno)) }
}
