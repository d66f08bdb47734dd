// The dictionary: all kinds of values, memory and disk, removal, snapshots, errors, subscriptions.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Platform
import Testing

private struct Stubborn: Codable, Equatable, Sendable {
  struct Refusal: Error {}
  func encode(to encoder: any Encoder) throws { throw Refusal() }
}

extension TemporaryFile {
  fileprivate var d: any WorkspaceDictionary { workspace.dictionary }

  /// Reads with another workspace, which has nothing in memory.
  fileprivate func onDisk<R>(_ read: (any WorkspaceDictionary) -> R) -> R {
    let second = secondWorkspace()
    defer { withExtendedLifetime(second) {} }
    return read(second.d)
  }
}

@Suite("The dictionary", .endsSometime)
struct DictionaryTests {
  @Test("The file has upstream's layout")
  func layout() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = 5
      workspace.d.synchronize()
      let table = "dictitem_v_dflat_internal__"
      let keys = try workspace.sqlite3("SELECT __pk0 || '|' || __pk1 FROM \(table)")
      #expect(keys == "k|")
      let type = try workspace.sqlite3("SELECT typeof(__pk1) FROM \(table)")
      #expect(type == "text")
      let tables = try workspace.sqlite3(
        "SELECT count(*) FROM sqlite_master WHERE name LIKE '%dictitem%' AND type = 'table'")
      #expect(tables == "1")
    }
  }

  @Test("nil removes a key that was never read, from the disk too")
  func removal() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = 5
      workspace.dflat.dictionary["l"] = 6
      workspace.d.synchronize()
      let second = workspace.secondWorkspace()
      second.dflat.dictionary["k"] = nil as Int?
      var d = second.d
      d.removeValue(forKey: "l")
      #expect(d.keys.isEmpty)
      d.synchronize()
      let count = try workspace.sqlite3("SELECT count(*) FROM dictitem_v_dflat_internal__")
      #expect(count == "0")
    }
  }

  @Test("Transactions of two workspaces count together, whatever each remembers")
  func counting() async throws {
    try await withTemporaryFile { workspace in
      let second = workspace.secondWorkspace()
      workspace.dflat.dictionary["n"] = 5
      workspace.d.synchronize()
      #expect(second.dflat.dictionary["n", Int.self] == 5)
      for turn in 1...3 {
        for other in [workspace, second] {
          try await other.dflat.write { txn in
            txn.dictionary["n"] = txn.dictionary["n", default: 0] + 1
            txn.dictionary["key \(turn)"] = true
            #expect(Set(txn.dictionary.keys).count == turn + 1)
          }
        }
      }
      let third = workspace.secondWorkspace()
      #expect(third.dflat.dictionary["n", Int.self] == 11)
      // What was set outside of transactions comes first, written or not.
      second.dflat.dictionary["n"] = 20
      try await second.dflat.write { txn in
        txn.dictionary["n"] = txn.dictionary["n", default: 0] + 1
      }
      #expect(second.dflat.dictionary["n", Int.self] == 21)
    }
  }

  @Test("A row that has another key by now is left alone, in whatever order values are written")
  func movedRows() throws {
    try withTemporaryFile { workspace in
      let keys = (0..<12).map { "k\($0)" }
      for key in keys { workspace.dflat.dictionary[key] = 100 }
      workspace.d.synchronize()
      // As a program does that puts a backup's rows into the file.
      let table = "dictitem_v_dflat_internal__"
      try workspace.tamper(
        "UPDATE \(table) SET rowid = 100 - rowid; UPDATE \(table) SET rowid = rowid - 87")
      for (number, key) in keys.enumerated() { workspace.dflat.dictionary[key] = 200 + number }
      workspace.d.synchronize()
      let found = workspace.onDisk { d in keys.map { d[$0, Int.self] } }
      #expect(found == (0..<12).map { 200 + $0 })
      #expect(try workspace.sqlite3("SELECT count(*) FROM \(table)") == "12")
    }
  }

  @Test("Overwriting keeps a single row, even if another workspace wrote it")
  func overwriting() throws {
    try withTemporaryFile { workspace in
      var d = workspace.d
      d["k"] = 1
      d.synchronize()
      d["k"] = 2
      d.synchronize()
      let second = workspace.secondWorkspace()
      second.dflat.dictionary["k"] = "three"
      second.d.synchronize()
      try workspace.tamper("DELETE FROM dictitem_v_dflat_internal__")
      d["k"] = 4
      d.synchronize()
      #expect(workspace.onDisk { $0["k", Int.self] } == 4)
      let count = try workspace.sqlite3("SELECT count(*) FROM dictitem_v_dflat_internal__")
      #expect(count == "1")
    }
  }

  @Test("A damaged value is reported, reads as nil and can be replaced")
  func damage() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = "text"
      workspace.d.synchronize()
      try workspace.tamper("UPDATE dictitem_v_dflat_internal__ SET p = x'0102'")
      let second = workspace.secondWorkspace()
      #expect(second.d["k", String.self] == nil)
      let errors = second.takeErrors()
      #expect(errors.first?.table == "dictitem_v_dflat_internal__")
      #expect(errors.first?.rowid == 1)
      second.dflat.dictionary["k"] = "new"
      second.d.synchronize()
      #expect(workspace.onDisk { $0["k", String.self] } == "new")
    }
  }

  @Test(
    "nil removes a key whose value was read and is damaged, from the disk too",
    arguments: [false, true])
  func damagedRemoval(inTransaction: Bool) async throws {
    try await withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = "text"
      workspace.dflat.dictionary["kept"] = 1
      workspace.d.synchronize()
      try workspace.tamper(
        "UPDATE dictitem_v_dflat_internal__ SET p = x'0102' WHERE __pk0 = 'k'")
      let second = workspace.secondWorkspace()
      if inTransaction {
        try await second.dflat.write(Post.self) { _ in
          #expect(second.d["k", String.self] == nil)
        }
      }
      #expect(second.d["k", String.self] == nil)
      #expect(second.takeErrors().map(\.rowid) == [1])
      second.dflat.dictionary["k"] = nil as String?
      second.d.synchronize()
      let keys = try workspace.sqlite3("SELECT __pk0 FROM dictitem_v_dflat_internal__")
      #expect(keys == "kept")
    }
  }

  @Test("removeAll removes damaged values, read or not")
  func removalOfAll() throws {
    try withTemporaryFile { workspace in
      for key in ["a", "b", "c"] { workspace.dflat.dictionary[key] = "text" }
      workspace.d.synchronize()
      try workspace.tamper(
        "UPDATE dictitem_v_dflat_internal__ SET p = x'0102' WHERE __pk0 <> 'c'")
      let second = workspace.secondWorkspace()
      #expect(second.d["a", String.self] == nil)
      var d = second.d
      d.removeAll()
      d.synchronize()
      let count = try workspace.sqlite3("SELECT count(*) FROM dictitem_v_dflat_internal__")
      #expect(count == "0")
      _ = second.takeErrors()
    }
  }

  @Test("A value that could not be written is reported, stays in memory, and is written later")
  func failedWriting() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["a"] = 1
      workspace.d.synchronize()
      try workspace.tamper(
        "CREATE TRIGGER no BEFORE INSERT ON dictitem_v_dflat_internal__ BEGIN SELECT RAISE(ABORT, 'no'); END"
      )
      workspace.dflat.dictionary["b"] = 2
      workspace.d.synchronize()
      #expect(workspace.d["b", Int.self] == 2)
      #expect(!workspace.takeErrors().isEmpty)
      try workspace.tamper("DROP TRIGGER no")
      workspace.d.synchronize()
      #expect(workspace.onDisk { $0["b", Int.self] } == 2)
      // The job started by the assignment may have retried and reported again before the trigger
      // was removed.
      _ = workspace.takeErrors()
    }
  }

  // MARK: Watching

  // MARK: Transactions

  // MARK: Misuse

  @Test("A value that cannot be encoded stays in memory and is reported")
  func notEncodable() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = Stubborn()
      #expect(workspace.d["k", Stubborn.self] == Stubborn())
      #expect(workspace.takeErrors().first?.message.contains("notEncodable") == true)
      workspace.d.synchronize()
      #expect(workspace.onDisk { $0.keys } == [])
    }
  }

  @Test("A snapshot reads its own state, and does not affect later reads")
  func snapshot() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = 1
      workspace.d.synchronize()
      let second = workspace.secondWorkspace()
      second.dflat.fetchWithinASnapshot {
        #expect(second.dflat.fetch(for: Post.self).all().isEmpty)
        #expect(second.d["other", Int.self] == nil)
        workspace.dflat.dictionary["k"] = 2
        workspace.dflat.dictionary["other"] = 3
        workspace.d.synchronize()
        #expect(second.d["k", Int.self] == 1)
        #expect(second.d["other", Int.self] == nil)
      }
      #expect(second.d["k", Int.self] == 2)
      #expect(second.d["other", Int.self] == 3)
    }
  }

  @Test("After shutdown, reads come from memory, and the disk is not used")
  func afterShutdown() throws {
    try withTemporaryFile { workspace in
      workspace.dflat.dictionary["k"] = 1
      workspace.dflat.dictionary["l"] = 1
      workspace.dflat.shutdown()
      #expect(workspace.d["k", Int.self] == 1)
      let second = workspace.secondWorkspace()
      let d = second.d
      second.dflat.shutdown()
      #expect(d["l", Int.self] == nil)
      #expect(d.keys == [])
      d.synchronize()
      let third = workspace.secondWorkspace()
      #expect(third.d["l", Int.self] == 1)
    }
  }

  @Test("synchronize in a handler that has submitted; a foreign dictionary assigned")
  func misuse() async {
    let waiting = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withTemporaryFile { workspace in
        workspace.dflat.dictionary["k"] = 1
        _ = try workspace.write([Post.self]) { txn in
          _ = try txn.insert(Blog.PostChangeRequest.creationRequest(Post(site: "s", number: 1)))
          workspace.dflat.dictionary.synchronize()
        }
      }
    }
    let text = String(decoding: waiting?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("synchronize()"), "\(text)")
    let foreign = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withTemporaryFile { workspace in
        workspace.dflat.dictionary = workspace.secondWorkspace().dflat.dictionary
      }
    }
    let other = String(decoding: foreign?.standardErrorContent ?? [], as: UTF8.self)
    #expect(other.contains("workspace's own"), "\(other)")
  }
}
