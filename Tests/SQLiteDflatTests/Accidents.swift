// What a person or another program can do to a file while it is open.

import Foundation
import Platform
import SQLiteAccess
import Testing

/// What happens to a file so that its path does not lead to it any more.
enum Accident: String, CaseIterable, Sendable {
  case removed, moved, replacedByCopy, replacedByDatabase, replacedByJunk, replacedByDirectory
  case replacedByLink, movedBehindLink, directoryRemoved, directoryMoved, cutToNothing
  case logRemoved, logReplaced, logIndexRemoved, logIndexReplaced

  /// Whether the log, and not the file, is concerned.
  var isOfLog: Bool {
    switch self {
    case .logRemoved, .logReplaced, .logIndexRemoved, .logIndexReplaced: true
    default: false
    }
  }

  /// What the error says.
  var words: String {
    switch self {
    case .removed, .moved, .directoryRemoved, .directoryMoved: "removed or moved"
    case .replacedByCopy, .replacedByDatabase, .replacedByJunk: "another file"
    case .replacedByDirectory: "a directory"
    case .replacedByLink, .movedBehindLink: "a symbolic link"
    case .cutToNothing: "cut to 0 bytes"
    case .logRemoved: "write-ahead log (-wal) beside the file was removed"
    case .logReplaced: "write-ahead log (-wal) beside the file was replaced"
    case .logIndexRemoved: "index (-shm) of the log beside the file was removed"
    case .logIndexReplaced: "index (-shm) of the log beside the file was replaced"
    }
  }

  /// Does it to the file `path` in the directory `directory`.
  func happen(to path: String, in directory: String) throws {
    let files = FileManager.default
    let junk = Data(repeating: 0x5a, count: 50_000)
    func put(_ make: (String) throws -> Void, at path: String) throws {
      try make(path + ".new")
      #expect(rename(path + ".new", path) == 0)
    }
    switch self {
    case .removed: try files.removeItem(atPath: path)
    case .moved: try files.moveItem(atPath: path, toPath: path + ".old")
    case .replacedByCopy: try put({ try files.copyItem(atPath: path, toPath: $0) }, at: path)
    case .replacedByDatabase:
      try put(
        { path in
          let other = try Connection(path: path)
          try other.execute("CREATE TABLE other (a)")
          try other.close()
        }, at: path)
    case .replacedByJunk: try put({ try junk.write(to: URL(fileURLWithPath: $0)) }, at: path)
    case .replacedByDirectory:
      try files.removeItem(atPath: path)
      try files.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .replacedByLink:
      try files.copyItem(atPath: path, toPath: path + ".copy")
      try put(
        { try files.createSymbolicLink(atPath: $0, withDestinationPath: path + ".copy") }, at: path)
    case .movedBehindLink:
      try files.moveItem(atPath: path, toPath: path + ".old")
      try files.createSymbolicLink(atPath: path, withDestinationPath: path + ".old")
    case .directoryRemoved: try files.removeItem(atPath: directory)
    case .directoryMoved: try files.moveItem(atPath: directory, toPath: directory + ".old")
    case .cutToNothing: #expect(truncate(path, 0) == 0)
    case .logRemoved: try files.removeItem(atPath: path + "-wal")
    case .logReplaced: try put({ try junk.write(to: URL(fileURLWithPath: $0)) }, at: path + "-wal")
    case .logIndexRemoved: try files.removeItem(atPath: path + "-shm")
    case .logIndexReplaced:
      try put({ try junk.write(to: URL(fileURLWithPath: $0)) }, at: path + "-shm")
    }
  }
}
