// restore and vacuum, with and without programs that have the file open.

import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("Commands that put files into place")
struct FileCareTests {
  /// What is in the folder of a file beside it, as endings of its name.
  private func companions(of path: String) throws -> [String] {
    let url = URL(filePath: path)
    return try FileManager.default.contentsOfDirectory(
      atPath: url.deletingLastPathComponent().path
    ).filter { $0.hasPrefix(url.lastPathComponent) && $0 != url.lastPathComponent }
      .map { String($0.dropFirst(url.lastPathComponent.count)) }.sorted()
  }

  /// Calls `body` with the path of a file with posts that no program has open.
  private func withClosedBlog(
    _ body: (_ path: String, _ source: TemporaryFile) throws -> Void
  ) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try withBlog { file in
      let path = "\(directory)/blog.db"
      let made = run(["backup", file.path, path])
      #expect(made.status == 0, "\(made.errors)")
      try body(path, file)
    }
  }

  @Test("A file that SQLite refuses is a finding of check, and each verb says how to repair it")
  func refused() throws {
    try withClosedBlog { path, _ in
      let connection = try Connection(path: path)
      try connection.execute(
        "PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON; UPDATE sqlite_master "
          + "SET sql = 'CRFATE' || substr(sql, 7) WHERE name = '\(Post._schema.table)'")
      try connection.close()
      let way = "dflat repair \(path) -o NEW"
      let check = run(["check", path])
      #expect(check.status == 1 && check.errors.isEmpty, "\(check)")
      let start = "damage: damagedFile: the file: SQLite cannot open it: malformed database schema"
      #expect(check.output.hasPrefix(start), "\(check.output)")
      let last = check.output.split(separator: "\n").last ?? ""
      #expect(last.hasPrefix("next: ") && last.contains(way), "\(last)")
      let json = try JSONSerialization.jsonObject(
        with: Data(run(["check", path, "--json"]).output.utf8))
      let findings = (json as? [String: Any])?["findings"] as? [[String: Any]]
      #expect(findings?.count == 1 && findings?[0]["kind"] as? String == "damagedFile", "\(json)")
      for words in [["info", path], ["query", path, "Post"], ["export", path, "Post"]] {
        let refused = run(words)
        #expect(refused.status == 65 && refused.errors.contains(way), "\(refused.errors)")
      }
      #expect(try companions(of: path) == [])
      try String(repeating: "no database ", count: 500).write(
        toFile: path, atomically: true, encoding: .utf8)
      let foreign = run(["check", path])
      #expect(foreign.status == 65 && foreign.errors.contains("check the path"), "\(foreign)")
    }
  }

  @Test("A table to which somebody has added a column has its objects for every verb")
  func addedColumn() throws {
    try withClosedBlog { path, _ in
      let before = run(["export", path, "Post"])
      #expect(before.status == 0 && !before.output.isEmpty)
      let table = Post._schema.table
      let connection = try Connection(path: path)
      try connection.execute(
        "ALTER TABLE \"\(table)\" ADD COLUMN extra NOT NULL DEFAULT 'none'; "
          + "UPDATE \"\(table)\" SET extra = 'mine'")
      try connection.close()
      #expect(run(["export", path, "Post"]).output == before.output)
      #expect(run(["check", path]).status == 0)
      let copy = path + ".copy"
      #expect(run(["copy", path, copy, "--yes"]).status == 0)
      #expect(run(["export", copy, "Post"]).output == before.output)
      // A row that programs have written since then has the default.
      let line = #"{"site":"s","number":500}"#
      let stored = run(["import", path, "Post", "-", "--yes"], input: line)
      #expect(stored.status == 0, "\(stored.errors)")
      let after = run(["export", path, "Post"])
      // The new file has the column, too.
      let repaired = path + ".repaired"
      let repair = run(["repair", path, "-o", repaired])
      #expect(repair.status == 0, "\(repair.output)\(repair.errors)")
      #expect(run(["export", repaired, "Post"]).output == after.output)
      let found = try Connection(path: repaired)
      let extras = try found.rows("SELECT DISTINCT extra FROM \"\(table)\" ORDER BY extra")
      #expect(extras == [[.text("mine")], [.text("none")]])
      try found.close()
    }
  }

  @Test("A row with a wrong checksum does not get into a folder of backups")
  func wrongChecksum() throws {
    try withClosedBlog { path, _ in
      let folder = path + ".backups/"
      #expect(run(["backup", path, folder, "--keep", "1"]).status == 0)
      let connection = try Connection(path: path)
      let table = Post._schema.table
      // A checksum of 0, which is not that of the row, with its mark.
      try connection.execute(
        "UPDATE \"\(table)\" SET p = CAST(p || x'00000000C3' AS BLOB) "
          + "WHERE rowid = (SELECT min(rowid) FROM \"\(table)\")")
      try connection.close()
      let refused = run(["backup", path, folder, "--keep", "1"])
      #expect(refused.status != 0 && refused.errors.contains("checksum"), "\(refused)")
      #expect(run(["restore", folder, path + ".restored"]).status == 0)
      #expect(run(["check", path + ".restored"]).status == 0)
    }
  }

  private func damage(_ path: String) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    for page in 1..<(bytes.count / 4096) {
      bytes.replaceSubrange(
        page * 4096..<page * 4096 + 100, with: Data(repeating: 0xEE, count: 100))
    }
    try bytes.write(to: URL(filePath: path))
  }

  @Test("restore puts a backup to a new place, and refuses a damaged one")
  func restore() throws {
    try withClosedBlog { backup, file in
      let new = backup + ".new"
      let made = run(["restore", backup, new])
      #expect(made.status == 0 && made.output.contains("bytes, checked"), "\(made)")
      #expect(run(["diff", file.path, new]).status == 0)
      #expect(try companions(of: new) == [])
      let taken = run(["restore", backup, new])
      #expect(taken.status == 74 && taken.errors.contains("--replace"), "\(taken)")
      #expect(run(["restore", backup, backup, "--replace", "--yes"]).status == 64)
      #expect(run(["restore", backup + ".none", new]).status == 66)
      try damage(backup)
      let other = backup + ".other"
      let damaged = run(["restore", backup, other])
      #expect(
        damaged.status == 65 && damaged.errors.contains("is damaged, and nothing was changed"))
      #expect(!FileManager.default.fileExists(atPath: other))
      let kept = run(["restore", backup, new, "--replace", "--yes"])
      #expect(kept.status == 65)
      #expect(run(["diff", file.path, new]).status == 0)
      #expect(try companions(of: new) == [])
    }
  }

  @Test("backup fills a folder, and restore takes the newest of it, or the one that is named")
  func folder() throws {
    try withClosedBlog { path, file in
      let folder = path + "-backups/"
      let first = run(["backup", path, folder])
      #expect(first.status == 0 && first.output.contains("000001-"), "\(first)")
      let connection = try Connection(path: path)
      try connection.execute("CREATE TABLE other (a); INSERT INTO other VALUES ('later')")
      try connection.close()
      let second = run(["backup", path, folder, "--keep", "3", "--json"])
      #expect(second.status == 0 && second.output.contains(".pages"), "\(second)")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names.filter { $0.hasPrefix("0000") }.count == 2)
      let pages = try #require(names.first { $0.hasSuffix(".pages") })
      let whole = try #require(names.first { $0.hasSuffix(".db") })
      for (index, source) in [folder, folder + pages, folder + whole].enumerated() {
        let new = path + "-restored\(index)"
        let restored = run(["restore", source, new])
        #expect(restored.status == 0, "\(restored)")
        #expect(run(["diff", file.path, new]).status == 0)
        let copy = try Connection(path: new)
        let later = try copy.value("SELECT count(*) FROM sqlite_master WHERE name = 'other'")
        #expect(later == .integer(index < 2 ? 1 : 0))
        try copy.close()
      }
      #expect(run(["restore", path + "-none/", path + "-x"]).status == 66)
      #expect(run(["restore", folder + "000009-x.pages", path + "-x"]).status == 66)
      #expect(run(["backup", path, folder, "--keep", "0"]).status == 64)
    }
  }

  @Test("restore --replace keeps the replaced file with its log, also if that is damaged")
  func replace() throws {
    try withClosedBlog { backup, file in
      let path = backup + ".used"
      let used = TemporaryFile(path: path)
      try used.store([post(77)])
      // A program has it open.
      let refused = try RunningCommand(["restore", backup, path, "--replace", "--yes"]).end()
      #expect(refused.status == 74 && refused.errors.contains("has \(path) open"), "\(refused)")
      #expect(try companions(of: path) == ["-shm", "-wal"])
      try used.store([post(78)])
      used.dflat.shutdown()
      try damage(path)
      try Data("a log".utf8).write(to: URL(filePath: path + "-wal"))
      #expect(run(["restore", backup, path, "--replace"], answer: "n").status == 1)
      let replaced = run(["restore", backup, path, "--replace", "--json"], answer: "y")
      #expect(replaced.status == 0 && replaced.output.contains(#".used.replaced""#), "\(replaced)")
      #expect(try companions(of: path) == [".replaced", ".replaced-wal"])
      #expect(run(["diff", file.path, path]).status == 0)
      let second = run(["restore", backup, path, "--replace", "--yes"])
      #expect(second.output.hasSuffix(".replaced-2\n"), "\(second)")
    }
  }

  @Test("vacuum makes a smaller file with the same objects, if no program has it open")
  func vacuum() throws {
    try withClosedBlog { path, file in
      let used = TemporaryFile(path: path)
      try used.store((100..<2000).map { post($0, likes: $0, link: "https://\($0)") })
      _ = try used.dflat.write(Post.self) { try $0.delete(where: Post.number >= 100) }
      let open = try RunningCommand(["vacuum", path, "--yes"]).end()
      #expect(open.status == 74 && open.errors.contains("has \(path) open"), "\(open)")
      try used.store([post(50)])
      used.dflat.shutdown()
      #expect(run(["vacuum", path, "--dry-run"]).status == 0)
      #expect(run(["vacuum", path]).status == 64)
      let before = try Data(contentsOf: URL(filePath: path)).count
      let done = run(["vacuum", path, "--yes"])
      #expect(done.status == 0, "\(done)")
      #expect(try companions(of: path) == [])
      #expect(try Data(contentsOf: URL(filePath: path)).count < before / 4)
      #expect(run(["check", path]).status == 0)
      let again = TemporaryFile(path: path)
      #expect(again.posts.all().count == 4)
      try again.store([post(51)])
      #expect(try again.sqlite3("PRAGMA auto_vacuum; PRAGMA journal_mode") == "2\nwal")
      #expect(try again.faults(complete: false) == [])
      again.dflat.shutdown()
      try damage(path)
      let damaged = run(["vacuum", path, "--yes"])
      #expect(damaged.status == 65, "\(damaged)")
      #expect(try companions(of: path) == [])
    }
  }

  @Test("vacuum --incremental gives free pages back beside a running program")
  func steps() throws {
    try withTemporaryFile(configure: { $0.idleDelay = .seconds(3600) }) { file in
      try file.store((100..<4000).map { post($0, likes: $0, link: "https://\($0)") })
      let before = try Data(contentsOf: URL(filePath: file.path + "-wal")).count
      #expect(before > 0)
      try file.tamper(
        "PRAGMA wal_autocheckpoint = 0; DELETE FROM blog__post_v1_0 WHERE rowid > 5")
      let free = try #require(Int(try file.sqlite3("PRAGMA freelist_count")))
      #expect(free > 5)
      let done = try RunningCommand(["vacuum", file.path, "--incremental", "--yes", "--json"]).end()
      #expect(done.status == 0 && done.output.contains("bytesAfter"), "\(done)")
      #expect(try file.sqlite3("PRAGMA freelist_count") == "0")
      #expect(file.posts.all().count == 5)
      try file.store([post(1)])
      #expect(file.posts.all().count == 6)
      let plain = file.path + ".plain"
      let connection = try Connection(path: plain)
      try connection.execute("CREATE TABLE t (a)")
      try connection.close()
      let refused = run(["vacuum", plain, "--incremental", "--yes"])
      #expect(
        refused.status == 64 && refused.errors.contains("without --incremental"), "\(refused)")
    }
  }

  #if os(Linux)
    @Test("vacuum says what it may not write", arguments: [false, true])
    func withoutRights(fileIsWritable: Bool) throws {
      try withClosedBlog { path, _ in
        let folder = URL(filePath: path).deletingLastPathComponent().path
        #expect(chmod(path, fileIsWritable ? 0o666 : 0o444) == 0 && chmod(folder, 0o555) == 0)
        defer { #expect(chmod(folder, 0o755) == 0) }
        for words in [["vacuum", path, "--yes"], ["vacuum", path, "--incremental", "--yes"]] {
          let result = try RunningCommand(words, hasRights: false).end()
          #expect(result.status == 74, "\(result)")
          let problem =
            fileIsWritable ? "may not create the log beside the file" : "may not write the file"
          #expect(result.errors.contains(problem), "\(result.errors)")
          #expect(result.errors.contains("writable"), "\(result.errors)")
        }
        #expect(try companions(of: path) == [])
      }
    }
  #endif
}
