// How long an index stays known to be complete and right: when files are reopened, beside other
// workspaces, and beside other programs.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Lasting trust in indexes")
struct IndexMarkTests {
  private static let main = "blog__post_v1_0"
  private let likes = "\(main)__f10"

  private func traced(_ path: String) -> TemporaryFile {
    TemporaryFile(path: path) { $0.tracesStatements = true }
  }

  /// The number of comparisons of side tables with the objects since the last call.
  private func verifications(_ workspace: TemporaryFile) -> Int {
    workspace.takeEvents().count { event in
      guard case .statement(let sql, _) = event else { return false }
      return sql.contains("LEFT JOIN")
    }
  }

  /// When an empty transaction of the type completes, a previously requested step has ended.
  private func waitForStep(_ workspace: TemporaryFile) throws {
    try workspace.write([Post.self]) { _ in }
  }

  /// Compares conditions on indexed fields with a filter over all objects, and checks the file
  /// against its objects.
  private func expectRight(_ workspace: TemporaryFile, _ comment: Comment? = nil) {
    let all = workspace.posts.all()
    for value in 0..<6 as Range<Int32> {
      #expect(
        workspace.posts.where(Post.likes == value).map(\._rowid)
          == all.filter { $0.likes == value }.map(\._rowid), comment)
    }
    let path = Post.attachment.as(Blog.Photo.self).path
    for name in ["1", "2", "7", "new"] {
      #expect(
        workspace.posts.where(path == name).map(\._rowid)
          == all.filter { $0.attachment == .photo(Blog.Photo(path: name)) }.map(\._rowid), comment)
    }
    #expect(
      workspace.posts.where(Post.attachment._type.isNull).count
        == all.count { $0.attachment == nil }, comment)
  }

  /// The errors in side tables. The keys of objects changed by SQL are not checked here.
  private func faults(_ workspace: TemporaryFile, complete: Bool = false) throws -> [String] {
    try workspace.faults(complete: complete).filter { !$0.contains("key columns") }
  }

  private func fill(_ workspace: TemporaryFile) throws {
    try workspace.store((1...20).map { post($0, likes: $0 % 6, photo: $0 % 3 > 0 ? "\($0)" : nil) })
  }

  // MARK: Own changes

  @Test("A reopened file is not verified again")
  func openedAgain() throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      let again = traced(workspace.path)
      #expect(try again.posts.explain(where: Post.likes == 3).indexes == [likes])
      expectRight(again)
      try again.store([post(30, likes: 3, photo: "new")])
      expectRight(again)
      #expect(verifications(again) == 0)
      again.dflat.shutdown()
    }
  }

  @Test("Commits of other workspaces keep the marks, whatever they write")
  func otherWorkspaces() throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      let reader = traced(workspace.path)
      let writer = workspace.secondWorkspace()
      for number in 40..<50 as Range<Int32> {
        try writer.store([post(number, likes: number % 6, photo: "\(number)")])
        expectRight(reader)
        try writer.change(number) { $0.likes = 1 }
        expectRight(reader)
        if number % 2 == 0 { try writer.remove([number]) }
        writer.dflat.dictionary["n"] = Int(number)
        writer.dflat.dictionary.synchronize()
        expectRight(reader)
        try reader.store([post(number + 100, likes: 2)])
      }
      #expect(verifications(reader) == 0)
      writer.dflat.shutdown()
      reader.dflat.shutdown()
      #expect(try faults(workspace) == [])
    }
  }

  // MARK: Other programs

  enum Tampering: String, CaseIterable, Sendable {
    case insertedMain = """
      INSERT INTO main (__pk0, __pk1, p) SELECT 's', 99, p FROM main WHERE rowid = 3
      """
    case insertedMainBelow = """
      INSERT INTO main (rowid, __pk0, __pk1, p) SELECT -5, 's', 99, p FROM main WHERE rowid = 3
      """
    case replacedObject = """
      REPLACE INTO main (__pk0, __pk1, p) SELECT __pk0, 7, p FROM main WHERE rowid = 9
      """
    case replacedObjectByUpdate = "UPDATE OR REPLACE main SET __pk1 = 7 WHERE rowid = 12"
    case changedObject = """
      UPDATE main SET p = (SELECT p FROM main WHERE rowid = 9) WHERE rowid = 2
      """
    case movedObject = "UPDATE main SET rowid = 77 WHERE rowid = 4"
    case removedObject = "DELETE FROM main WHERE rowid = 5"
    case removedLast = "DELETE FROM main WHERE rowid >= 19"
    case removedAll = "DELETE FROM main"
    case changedValue = "UPDATE main__f10 SET f10 = 3 WHERE rowid = 5"
    case movedValue = "UPDATE main__f10 SET rowid = 88 WHERE rowid = 5"
    case removedValue = "DELETE FROM main__f10 WHERE rowid = 20"
    case removedValues = "DELETE FROM main__f10"
    case addedValue = "INSERT INTO main__f10 VALUES (66, 3)"
    case replacedValue = "REPLACE INTO main__f10 VALUES (5, 3)"
    case takenValue = """
      REPLACE INTO main__f20__u2__f4 SELECT 3, f20__u2__f4 FROM main__f20__u2__f4 WHERE rowid = 2
      """
    case takenValueByUpdate = """
      UPDATE OR REPLACE main__f20__u2__f4 SET f20__u2__f4 = '2' WHERE rowid = 7
      """
    case emptyUnions = "UPDATE main__f20__type SET f20__type = NULL"
    case droppedIndex = "DROP TABLE main__f10"
    case emptyIndex = """
      DROP TABLE main__f10; CREATE TABLE main__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER)
      """
    case wrongIndex = """
      DROP TABLE main__f10; CREATE TABLE main__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER);
      INSERT INTO main__f10 SELECT rowid, 4 FROM main
      """
    case exchangedIndex = """
      ALTER TABLE main__f10 RENAME TO other;
      CREATE TABLE main__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER);
      INSERT INTO main__f10 SELECT rowid, f10 + 1 FROM other
      """
    case changedUnderAnotherName = """
      ALTER TABLE main__f10 RENAME TO other; UPDATE other SET f10 = 5 WHERE rowid = 2;
      ALTER TABLE other RENAME TO main__f10
      """
    case withoutGuards = """
      DROP TRIGGER _dflat_main__f10_update; UPDATE main__f10 SET f10 = 5 WHERE rowid = 2
      """
    case withoutGuardsOfObjects = """
      DROP TRIGGER _dflat_main_delete; DELETE FROM main WHERE rowid IN (2, 3)
      """
    case withoutMarks = "DELETE FROM _dflat_index; UPDATE main__f10 SET f10 = 5 WHERE rowid = 2"

    var sql: String { rawValue.replacing("main", with: IndexMarkTests.main) }
  }

  @Test("Changes by other programs are noticed and corrected", arguments: Tampering.allCases)
  func tampering(_ tampering: Tampering) throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      expectRight(workspace)
      let other = workspace.secondWorkspace()
      expectRight(other)
      try workspace.tamper(tampering.sql)
      expectRight(workspace)
      expectRight(other)
      try other.store([post(50, likes: 4)])
      expectRight(workspace)
      expectRight(other)
      try waitForStep(workspace)
      expectRight(workspace)
      try waitForStep(workspace)
      #expect(try faults(workspace) == [])
      #expect(try workspace.posts.explain(where: Post.likes == 3).indexes == [likes])
      other.dflat.shutdown()
      // From then on the index is trusted again.
      let again = traced(workspace.path)
      expectRight(again)
      #expect(verifications(again) == 0)
      again.dflat.shutdown()
    }
  }

  @Test("Only rows after the first change are verified again")
  func behindTheChange() throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      try workspace.tamper("UPDATE \(likes) SET f10 = 5 WHERE rowid = 18")
      let marks = try workspace.sqlite3(
        "SELECT side, verified FROM _dflat_index ORDER BY verified LIMIT 1")
      #expect(marks == "\(likes)|17")
      expectRight(workspace)
      try waitForStep(workspace)
      #expect(
        try workspace.sqlite3("SELECT DISTINCT verified FROM _dflat_index") == "\(Int64.max)")
    }
  }

  /// The queue is blocked until the workspace is shut down, so exactly one step runs.
  private func askAndShutDown(_ workspace: TemporaryFile) {
    let dflat = workspace.dflat
    let hold = DispatchSemaphore(value: 0)
    dflat.performChanges([Post.self]) { _ in hold.wait() }
    #expect(workspace.posts.where(Post.likes == 5).count == 2000)
    let done = DispatchSemaphore(value: 0)
    // By now the first step is accepted, and the second one is not.
    dflat.shutdown { done.signal() }
    hold.signal()
    // A second call would not wait for work that was accepted before.
    done.expect("the end of the shutdown")
  }

  @Test("An interrupted build continues after the rows that it verified, in the next program, too")
  func resumed() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store((1...12_000).map { post($0, likes: $0 % 6) })
      await workspace.dflat.shutdown()
      try workspace.tamper("UPDATE \(likes) SET f10 = 5 WHERE rowid = 11990")
      try workspace.tamper("DELETE FROM _dflat_index WHERE side = '\(likes)'")
      let first = workspace.secondWorkspace()
      askAndShutDown(first)
      await first.dflat.shutdown()
      let verified = Int(
        try workspace.sqlite3("SELECT verified FROM _dflat_index WHERE side = '\(likes)'"))
      #expect(verified == 10_000)
      let second = workspace.secondWorkspace()
      try await second.dflat.indexesReady(for: Post.self)
      await second.dflat.shutdown()
      #expect(try faults(workspace, complete: true) == [])
    }
  }

  @Test(
    "An index that lacks few rows is complete after the first step, however many it has",
    arguments: [
      ["DELETE FROM likes WHERE rowid > 11900", "DELETE FROM _dflat_index WHERE side = 'likes'"],
      // The mark is lowered, and not taken away.
      ["DELETE FROM likes WHERE rowid IN (40, 12000)"],
    ])
  func fewMissing(damage: [String]) async throws {
    try await withTemporaryFile { workspace in
      try workspace.store((1...12_000).map { post($0, likes: $0 % 6) })
      await workspace.dflat.shutdown()
      for statement in damage { try workspace.tamper(statement.replacing("likes", with: likes)) }
      let first = workspace.secondWorkspace()
      askAndShutDown(first)
      await first.dflat.shutdown()
      #expect(try workspace.sqlite3("SELECT count(*) FROM \(likes)") == "12000")
      #expect(try faults(workspace, complete: true) == [])
    }
  }

  // MARK: Triggers of other programs

  @Test("Triggers that users have put into the file run, and indexes stay trusted")
  func auditTrigger() throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      try workspace.tamper(
        """
        CREATE TABLE audit (what TEXT, id INTEGER);
        CREATE TRIGGER a AFTER INSERT ON \(Self.main)
        BEGIN INSERT INTO audit VALUES ('new', new.rowid); END;
        CREATE TRIGGER b AFTER UPDATE ON \(Self.main)
        BEGIN INSERT INTO audit VALUES ('set', new.rowid); END;
        CREATE TRIGGER c AFTER DELETE ON \(Self.main)
        BEGIN INSERT INTO audit VALUES ('gone', old.rowid); END;
        """)
      let again = traced(workspace.path)
      try again.store([post(30, likes: 3, photo: "new")])
      expectRight(again)
      try again.change(3) { $0.likes = 5 }
      expectRight(again)
      try again.change(4) { $0.isPinned = true }
      try again.remove([6])
      expectRight(again)
      try again.write([Post.self]) { txn in
        try txn.submit(try #require(Blog.PostChangeRequest.deletionRequest(post(7))))
        txn.abort()
      }
      try again.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.changeRequest(post(8)))
        request.isPinned = true
        try txn.submit(request)
        txn.abort()
      }
      expectRight(again)
      #expect(verifications(again) == 0)
      again.dflat.shutdown()
      #expect(
        try workspace.sqlite3("SELECT what || id FROM audit") == "new21\nset3\nset4\ngone6")
      #expect(
        try workspace.sqlite3("SELECT DISTINCT verified FROM _dflat_index") == "\(Int64.max)")
      #expect(try faults(workspace, complete: true) == [])
    }
  }

  @Test("A trigger that skips an insertion or a deletion is an error, and changes no index")
  func ignoringTriggers() throws {
    let triggers = [
      "BEFORE INSERT ON main", "BEFORE INSERT ON main__f10", "BEFORE DELETE ON main",
    ]
    for trigger in triggers {
      try withTemporaryFile { workspace in
        try fill(workspace)
        try workspace.tamper(
          "CREATE TRIGGER skip \(trigger) BEGIN SELECT RAISE(IGNORE); END"
            .replacing("main", with: Self.main))
        let stored = workspace.posts.all().count
        let inserts = trigger.hasPrefix("BEFORE INSERT")
        let outcome = try workspace.write([Post.self]) { txn in
          let request =
            inserts
            ? Blog.PostChangeRequest.creationRequest(post(900, likes: 3))
            : try #require(Blog.PostChangeRequest.deletionRequest(post(6)))
          txn.try(submit: request)
        }
        #expect(!outcome.isCommitted, "\(trigger)")
        #expect(workspace.takeErrors().contains { $0.message.contains("trigger") })
        #expect(workspace.posts.all().count == stored)
        expectRight(workspace, "\(trigger)")
        #expect(try faults(workspace) == [], "\(trigger)")
      }
    }
  }

  @Test("A trigger that changes further objects or index rows is noticed")
  func meddlingTriggers() throws {
    let bodies = [
      "UPDATE main SET p = new.p WHERE rowid = 2",
      "UPDATE main SET p = (SELECT p FROM main WHERE rowid = 9) WHERE rowid = new.rowid",
      "UPDATE main__f10 SET f10 = 3 WHERE rowid = 4",
      "DELETE FROM main__f10 WHERE rowid = 4",
      "DELETE FROM main WHERE rowid = 4",
      "INSERT INTO main__f10 VALUES (300 + random() % 100, 3)",
    ]
    for body in bodies {
      try withTemporaryFile { workspace in
        try fill(workspace)
        try workspace.tamper(
          "CREATE TRIGGER meddle AFTER UPDATE ON main WHEN new.rowid = 6 BEGIN \(body); END"
            .replacing("main", with: Self.main))
        try workspace.change(6) { $0.likes = 1 }
        expectRight(workspace, "\(body)")
        try workspace.change(5) { $0.likes = 2 }
        expectRight(workspace, "\(body)")
        try waitForStep(workspace)
        #expect(try faults(workspace) == [], "\(body)")
      }
    }
  }

  @Test("What was verified before a trigger changed a side table is not relied on afterwards")
  func meddlingAgain() throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      // What it stores is right as long as the object in row 5 has more than three likes.
      try workspace.tamper(
        """
        CREATE TRIGGER meddle AFTER UPDATE ON main WHEN new.rowid = 6
        BEGIN
          UPDATE main__f10 SET f10 = (SELECT CASE WHEN f10 > 3 THEN 4 ELSE 3 END
            FROM main__f10 WHERE rowid = 5) WHERE rowid = 4;
        END;
        """.replacing("main", with: Self.main))
      try workspace.change(6) { $0.likes = 1 }
      expectRight(workspace)
      try workspace.change(5) { $0.likes = 2 }
      try workspace.change(6) { $0.likes = 0 }
      expectRight(workspace)
    }
  }

  @Test("A trigger that is created while the file is open runs with the next change")
  func lateTrigger() throws {
    try withTemporaryFile { workspace in
      try fill(workspace)
      try workspace.change(1) { $0.likes = 1 }
      try workspace.tamper(
        """
        CREATE TABLE seen (id INTEGER);
        CREATE TRIGGER see AFTER UPDATE ON \(Self.main)
        BEGIN INSERT INTO seen VALUES (new.rowid); END;
        """)
      try workspace.change(2) { $0.likes = 1 }
      try workspace.tamper("DROP TRIGGER see")
      try workspace.change(3) { $0.likes = 1 }
      #expect(try workspace.sqlite3("SELECT group_concat(id) FROM seen") == "2")
      expectRight(workspace)
    }
  }
}
