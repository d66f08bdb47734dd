// What there is in place of a damaged file, in words.

import Dflat
import Foundation
import Platform

extension DamagedFile {
  /// The advice of the error, such as:
  ///
  ///     keep the file as it is. The newest good backup is of 2026-11-27 04:00 UTC, 8 hours old:
  ///     restore it with "dflat restore /backups/notes notes.db --replace". Or save what the file
  ///     still has with "dflat repair notes.db -o NEW"
  struct Advice {
    let path: String
    /// nil if it is not known.
    let content: Content?
    let backups: BackupFolder?
    let newest: BackupFolder.Backup?
    /// Whether the newest backup was read.
    var isVerified = true
    let date: Date

    var text: String {
      var sentences: [String] = []
      switch content {
      case .foreign: sentences.append("check the path: it may be another program's file")
      default: sentences.append("keep the file as it is")
      }
      if let backups {
        if let newest {
          let kind = isVerified ? "newest good" : "newest"
          let age = Self.age(newest.date, at: date)
          sentences.append(
            "The \(kind) backup is of \(Self.text(newest.date)), \(age): "
              + "restore it with \"dflat restore \(backups.path.shellWord) \(path.shellWord) --replace\""
          )
        } else {
          sentences.append("There is no \(isVerified ? "good " : "")backup in \(backups.path)")
        }
      }
      switch content {
      case .pages, nil:
        sentences.append(
          (backups != nil && newest != nil ? "Or save" : "Save")
            + " what the file still has with \"dflat repair \(path.shellWord) -o NEW\"")
      case .nothing: sentences.append("A repair would find nothing in it")
      case .unreadable: sentences.append("The file cannot be looked at now")
      case .foreign: break
      }
      return sentences.joined(separator: ". ")
    }

    private static func text(_ date: Date) -> String {
      let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space)
        .year().month().day().time(includingFractionalSeconds: false)
      return "\(date.formatted(style).dropLast(3)) UTC"
    }

    private static func age(_ date: Date, at now: Date) -> String {
      let seconds = Int(now.timeIntervalSince(date))
      func text(_ number: Int, _ unit: String) -> String {
        "\(number) \(unit)\(number == 1 ? "" : "s") old"
      }
      switch seconds {
      case ..<(-1): return "which is in the future"
      case ..<120: return text(max(0, seconds), "second")
      case ..<7200: return text(seconds / 60, "minute")
      case ..<172_800: return text(seconds / 3600, "hour")
      default: return text(seconds / 86_400, "day")
      }
    }
  }
}

extension DamagedFile {
  /// The error of a file that tools cannot open, with what to do. They know no backups of it.
  package static func advised(_ error: StorageError, _ path: String) -> StorageError {
    let advice = Advice(
      path: path, content: Content(of: path), backups: nil, newest: nil, date: Date())
    return error.with(nil, advice.text)
  }

  /// Whether a file has pages of a database.
  package static func hasPages(_ path: String) -> Bool { Content(of: path) == .pages }

  /// Whether a file begins like a database, and ends before its first page does.
  package static func endsInFirstPage(_ path: String) -> Bool {
    guard !FileExclusion.isOpenHere(path), let file = try? PlainFile(reading: path),
      let size = try? file.size(), size >= 16
    else { return false }
    var head = [UInt8](repeating: 0, count: min(size, 18))
    guard (try? head.withUnsafeMutableBytes({ try file.read($0, at: 0) })) != nil,
      head.starts(with: "SQLite format 3\0".utf8)
    else { return false }
    if head.count < 18 { return true }
    let pageSize = Int(head[16]) << 8 | Int(head[17])
    return size < (pageSize > 1 ? pageSize : 65_536)
  }
}

extension StorageError {
  /// The same error with an advice, and maybe with another message.
  func with(_ message: String?, _ advice: String) -> StorageError {
    StorageError(
      cause, table: table, rowid: rowid, key: key, message: message ?? self.message,
      details: details,
      underlying: underlying, path: path, advice: advice)
  }
}

/// The workspaces of this process and the folders of their backups, so that every error of a
/// damaged file says what there is in its place.
///
/// The errors of a connection know its path and nothing of the workspace.
enum KnownFiles {
  private struct File {
    let owner: ObjectIdentifier
    let backups: BackupFolder?
  }

  private static let files = Mutex<[String: [File]]>([:])

  static func add(_ path: String, of owner: SQLiteEngine, _ backups: BackupFolder?) {
    let file = File(owner: ObjectIdentifier(owner), backups: backups)
    files.withLock { $0[path, default: []].append(file) }
  }

  static func remove(_ path: String, of owner: SQLiteEngine) {
    let id = ObjectIdentifier(owner)
    files.withLock { files in
      files[path]?.removeAll { $0.owner == id }
      if files[path]?.isEmpty == true { files[path] = nil }
    }
  }

  /// What to do about damage that was found while a workspace uses a file; nil if none does. The
  /// backup is looked up by its name alone: reading it takes long.
  static func advice(_ path: String) -> String? {
    guard let file = files.withLock({ $0[path]?.last { $0.backups != nil } ?? $0[path]?.last })
    else { return nil }
    let newest = try? file.backups?.backups().last
    return DamagedFile.Advice(
      path: path, content: nil, backups: file.backups, newest: newest, isVerified: false,
      date: Date()
    ).text
  }
}
