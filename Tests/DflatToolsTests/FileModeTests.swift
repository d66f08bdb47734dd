// Files that only their owner may read stay so, whichever tool makes new ones of them.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("The modes of new files")
struct FileModeTests {
  private static let secret: mode_t = 0o600

  /// Calls `body` with a closed file that only its owner may read, and its folder.
  private func withSecretFile(_ body: (_ path: String, _ folder: String) throws -> Void) throws {
    let folder = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = "\(folder)/a.db"
    let file = TemporaryFile(path: path)
    try file.store([post(1), post(2)])
    file.dflat.shutdown()
    #expect(chmod(path, Self.secret) == 0)
    try body(path, folder)
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  @Test("A vacuum leaves the mode as it is")
  func vacuumed() throws {
    try withSecretFile { path, _ in
      _ = try DataFile.vacuum(path)
      #expect(mode(path) == Self.secret)
    }
  }

  @Test("A backup has the mode of its file, and so has what is restored of it")
  func copies() throws {
    try withSecretFile { path, folder in
      let (copy, restored) = ("\(folder)/b.db", "\(folder)/c.db")
      let file = try DataFile.open(path)
      _ = try file.backup(to: copy)
      file.close()
      #expect(mode(copy) == Self.secret)
      _ = try DataFile.restore(copy, to: restored)
      #expect(mode(restored) == Self.secret)
    }
  }

  @Test("The backups of a folder have it, whole ones and those of changed pages")
  func folder() throws {
    try withSecretFile { path, folder in
      for number in 3...4 as ClosedRange<Int32> {
        let file = TemporaryFile(path: path)
        try file.store([post(number)])
        _ = try DataFile(of: file.dflat).backup(into: "\(folder)/backups")
        file.dflat.shutdown()
      }
      let backups = try BackupFolder("\(folder)/backups").backups()
      #expect(backups.map(\.kind) == [.whole, .changes])
      for backup in backups {
        #expect(mode(backup.path) == Self.secret)
        let restored = "\(folder)/\(backup.number).db"
        _ = try DataFile.restore(backup.path, to: restored)
        #expect(mode(restored) == Self.secret)
      }
    }
  }

  @Test("What takes the place of a file gets its mode", arguments: [false, true])
  func replaced(fromFolder: Bool) throws {
    try withSecretFile { path, folder in
      let backup = fromFolder ? "\(folder)/backups" : "\(folder)/b.db"
      let file = try DataFile.open(path)
      if fromFolder { _ = try file.backup(into: backup) } else { _ = try file.backup(to: backup) }
      file.close()
      for name in try FileManager.default.subpathsOfDirectory(atPath: folder)
      where !name.contains("a.db") && !name.hasSuffix("backups") {
        #expect(chmod("\(folder)/\(name)", 0o644) == 0)
      }
      _ = try DataFile.restore(backup, to: path, replacing: true)
      #expect(mode(path) == Self.secret && mode(path + ".replaced") == Self.secret)
    }
  }

  @Test("So does a file that a program puts in the place of a damaged one")
  func damaged() throws {
    try withSecretFile { path, folder in
      let new = "\(folder)/new.db"
      let file = try DataFile.open(path)
      _ = try file.backup(to: new)
      _ = try file.backup(into: "\(folder)/backups")
      file.close()
      #expect(chmod(new, 0o644) == 0)
      func damaged() throws -> SQLiteDflat.DamagedFile {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Data(repeating: 0, count: 100))
        try handle.close()
        let error = StorageError(.corruptFile, message: "damaged", path: path)
        return SQLiteDflat.DamagedFile(
          path, error: error, backups: BackupFolder("\(folder)/backups"))
      }
      let kept = try damaged().replace(by: new)
      #expect(kept != nil && mode(path) == Self.secret)
      let restored = try damaged().restoreNewestBackup()
      #expect(restored != nil && mode(path) == Self.secret)
    }
  }
}
