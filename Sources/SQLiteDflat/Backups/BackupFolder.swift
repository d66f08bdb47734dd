// BackupFolder: a folder with the backups of one database.
//
//   000001-20261128T012033Z-8c2f0d6b91a47e35.db
//                                    a whole backup: a database that any SQLite opens, and its
//                                    checksum, which the oldest ones do not have
//   000002-20261129T012034Z.pages    the pages that have changed since the one before
//   lock                             locked while a backup is made
//   *.unfinished                     what a killed backup has left; the next one removes it
//
//  - Numbers give the order, since clocks may go back. A whole backup begins a chain, and the ones
//    of changed pages after it, up to the next whole one, belong to it.
//  - A backup gets its name when all of it is on the disk and was read back. Older ones are only
//    removed after that.

public import Foundation

/// A folder with the backups of one database.
///
///     let backup = try await dflat.backup(into: "/backups/notes")
///     for backup in try BackupFolder("/backups/notes").backups() { print(backup.date) }
///
/// A backup is either whole, an SQLite database that any program opens, or has the pages alone that
/// have changed since the one before it. The library chooses; ``restore(_:to:progress:)`` makes a
/// database of both. No program may write to the files of the folder: backups that build on a
/// changed one are refused.
public struct BackupFolder: Sendable, Hashable {
  /// A backup in a folder.
  public struct Backup: Sendable, Hashable {
    /// What a backup has.
    public enum Kind: String, Sendable {
      /// The whole database.
      case whole
      /// The pages that have changed since the backup before it.
      case changes
    }

    /// Its number: that of the one before it and 1.
    public let number: Int
    /// When it was begun, in whole seconds.
    public let date: Date
    /// What it has.
    public let kind: Kind
    /// Its file.
    public let path: String
    /// The size of its file in bytes.
    public let bytes: Int
    /// The checksum of a whole backup's file; nil if it is not known.
    let checksum: UInt64?
  }

  /// The path of the folder.
  public let path: String

  /// Names a folder. It need not exist, and nothing is read.
  public init(_ path: String) {
    let end = path.lastIndex { $0 != "/" } ?? path.startIndex
    self.path = String(path[...end])
  }

  /// The backups in the order in which they were made. Files with other names are ignored.
  ///
  /// - Returns: The backups; none if there is no such folder.
  /// - Throws: `StorageError` if the folder cannot be read.
  public func backups() throws -> [Backup] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: path) } catch
      where !FileManager.default.fileExists(atPath: path)
    {
      return []
    } catch {
      throw StorageError(
        .cannotOpen, message: "the folder cannot be read", underlying: error, path: path)
    }
    return try names.compactMap(backup).sorted { $0.number < $1.number }
  }

  /// The backup with a file name; nil if no backup has such a name.
  private func backup(_ name: String) throws -> Backup? {
    let (stem, suffix) = name.split(at: ".")
    let (digits, rest) = stem.split(at: "-")
    let (time, sum) = rest.split(at: "-")
    let checksum = UInt64(sum, radix: 16)
    // A head has 32 bits for a number.
    guard let kind = Self.kinds[suffix], digits.utf8.count >= 6, let number = Int(digits),
      number > 0, number < UInt32.max, let date = try? Self.format.parse(time),
      sum.isEmpty || checksum != nil
    else { return nil }
    let file = "\(path)/\(name)"
    var status = stat()
    guard stat(file, &status) == 0 else {
      // Another process may have removed it just now.
      if errno == ENOENT { return nil }
      throw PlainFile.error("its size is not known", file)
    }
    return Backup(
      number: number, date: date, kind: kind, path: file, bytes: Int(status.st_size),
      checksum: checksum)
  }

  private static let kinds: [String: Backup.Kind] = ["db": .whole, "pages": .changes]
  private static let format = Date.ISO8601FormatStyle(
    dateSeparator: .omitted, timeSeparator: .omitted)

  /// The path of a backup.
  func path(of number: Int, _ date: Date, _ kind: Backup.Kind, _ checksum: UInt64?) -> String {
    let sum = checksum.map { "-" + Self.padded(String($0, radix: 16), to: 16) } ?? ""
    let name = "\(Self.padded("\(number)", to: 6))-\(date.formatted(Self.format))\(sum)"
    return "\(path)/\(name).\(kind == .whole ? "db" : "pages")"
  }

  private static func padded(_ digits: String, to count: Int) -> String {
    String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }

  /// What is needed to restore a backup: a whole one and those that follow it.
  /// - Throws: `StorageError.corruptFile` if one of them is not there.
  static func chain(of backup: Backup, in backups: [Backup]) throws -> [Backup] {
    let earlier = backups.filter { $0.number <= backup.number }
    guard let last = earlier.last, let found = resolved(last.path), found == resolved(backup.path)
    else {
      throw StorageError(
        .corruptFile, message: "it is not in the folder of backups", path: backup.path,
        advice: "see which ones there are")
    }
    guard let start = earlier.lastIndex(where: { $0.kind == .whole }) else {
      throw StorageError(
        .corruptFile, message: "the whole backup that it builds on is not there", path: backup.path)
    }
    let chain = Array(earlier[start...])
    for (one, next) in zip(chain, chain.dropFirst()) where next.number != one.number + 1 {
      throw StorageError(
        .corruptFile, message: "it builds on backup \(next.number - 1), which is not there",
        path: next.path)
    }
    return chain
  }
}

extension String {
  /// The text before and behind the first such character; the second one is empty if there is none.
  fileprivate func split(at character: Character) -> (String, String) {
    guard let index = firstIndex(of: character) else { return (self, "") }
    return (String(self[..<index]), String(self[self.index(after: index)...]))
  }
}
