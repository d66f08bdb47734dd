// Exporting into a file.
//
//  - The file appears, or takes the place of another one, when it is whole. Until then it has a
//    name that no other file has; see `UnfinishedFile`.
//  - Nothing that belongs to the file which is read is ever replaced, by whatever name it is meant.

import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat

extension DataStore {
  /// Writes all objects of a type into a file, in the order in which they were stored, as one state
  /// has them.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - format: The form.
  ///   - path: The file. It appears when it is whole.
  ///   - replaces: Whether a file that is there is replaced. It keeps its mode.
  ///   - leftOut: See ``export(_:as:leavingOut:to:)``.
  ///   - progress: Called now and then with the number of bytes that are written. An error that it
  ///     throws ends the export.
  /// - Returns: The number of objects.
  /// - Throws: ``ToolError``: of the kind `.usage` if `path` belongs to the file that is read;
  ///   `.storage` if a file is there and is not to be replaced, or it cannot be written; the errors
  ///   of `progress`. What was there is unchanged then.
  public func export(
    _ type: StoredType, as format: DataFile.ExportFormat = .jsonLines, toFile path: String,
    replacing replaces: Bool = false, leavingOut leftOut: (String) -> Void = { _ in },
    progress: (_ bytes: Int) throws -> Void = { _ in }
  ) throws -> Int {
    let target = try exportTarget(path)
    if target.isThere, !replaces {
      throw ToolError(
        .storage, "there is a file \(path) already",
        advice: "name a new file, or replace it with --yes")
    }
    let file = try ExportedFile(target)
    var bytes = 0
    let count = try export(type, as: format, leavingOut: leftOut) {
      try file.append($0)
      bytes += $0.count
      try progress(bytes)
    }
    try file.finish()
    return count
  }

  /// Where an export to a path goes.
  /// - Throws: `ToolError` if that is part of the file that is read, or no ordinary file.
  package func exportTarget(_ path: String) throws -> ExportTarget {
    let target = try ExportTarget(path)
    if let file = self as? DataFile, target.belongs(to: file.path) {
      throw ToolError(
        .usage, "\(path) belongs to the file that is exported: nothing was written",
        advice: "name another file")
    }
    return target
  }
}

/// A file that is to be written.
package struct ExportTarget {
  /// The path as it was given.
  let path: String
  /// The path without symbolic links.
  let place: String
  /// Whether there is a file.
  package let isThere: Bool

  init(_ path: String) throws {
    self.path = path
    var status = stat()
    isThere = lstat(path, &status) == 0
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw ToolError(
        .storage, "\(path) is no ordinary file",
        advice: "name a new file, or leave out --output to write to standard output")
    }
    let url = URL(filePath: path)
    let folder = Connection.resolvedPath(url.deletingLastPathComponent().path)
    place =
      Connection.resolvedPath(path) ?? folder.map { $0 + "/" + url.lastPathComponent } ?? path
  }

  /// Whether it is a database, or a file that SQLite has, or will have, beside it.
  func belongs(to database: String) -> Bool {
    let database = Connection.resolvedPath(database) ?? database
    return ["", "-wal", "-shm", "-journal"].contains { suffix in
      // The same place, or another name of the same file.
      place == database + suffix || DataFile.areSame(place, database + suffix)
    }
  }
}

/// A file that is being written beside its place.
private final class ExportedFile {
  private let target: ExportTarget
  private let unfinished: UnfinishedFile
  private let descriptor: Int32
  private var isFinished = false

  init(_ target: ExportTarget) throws {
    self.target = target
    unfinished = UnfinishedFile(for: target.place)
    descriptor =
      FileRights(of: target.place)?.create(unfinished.path)
      ?? open(unfinished.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw Self.error(target.path) }
  }

  deinit {
    if descriptor < 0 { return }
    close(descriptor)
    if !isFinished { unfinished.remove() }
  }

  func append(_ data: Data) throws {
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Self.error(target.path) }
      rest = rest.dropFirst(count)
    }
  }

  /// Gives it its name, under which there is a whole file also after a power loss.
  func finish() throws {
    if fsync(descriptor) != 0 || rename(unfinished.path, target.place) != 0 {
      throw Self.error(target.path)
    }
    isFinished = true
    FileReplacement.syncName(of: target.place)
  }

  /// The error of the system's last call.
  private static func error(_ path: String) -> ToolError {
    let number = errno
    return ToolError(
      .storage, "\(path) cannot be written: \(String(cString: strerror(number)))",
      advice: number == ENOSPC ? "free some space, and try again" : "check the path and its folder")
  }
}
