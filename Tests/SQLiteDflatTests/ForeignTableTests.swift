// Main tables that another program has made in another way.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Main tables of other programs")
struct ForeignTableTests {
  private static let table = Post._schema.table

  /// Replaces the main table by one that is made otherwise, with the same rows.
  private func replace(_ definition: String, in file: TemporaryFile) throws {
    try file.tamper(
      """
      ALTER TABLE \(Self.table) RENAME TO old;
      CREATE TABLE \(Self.table) \(definition);
      INSERT INTO \(Self.table) SELECT * FROM old;
      DROP TABLE old
      """)
  }

  @Test(
    "Keys are unique, also where the table does not say so",
    arguments: [
      "(rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, __pk1 INTEGER, p BLOB)",
      "(rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, __pk1 INTEGER, p BLOB, UNIQUE (__pk1, __pk0))",
    ])
  func uniqueKeys(definition: String) async throws {
    try await withTemporaryFile { file in
      try file.store([post(1)])
      try replace(definition, in: file)
      let dflat = file.dflat
      for isKnown in [true, false] {
        let error = await #expect(throws: StorageError.self) {
          try await dflat.write(Post.self) { try $0.insert(post(isKnown ? 1 : 2)) }
          try await dflat.write(Post.self) { try $0.insert(post(2)) }
        }
        #expect(error?.cause == .alreadyExists, "\(error as Any)")
      }
      #expect(file.posts.all().map(\.number) == [1, 2])
      #expect(try await dflat.checkIntegrity(of: Post.self).isEmpty)
      _ = file.takeErrors()
    }
  }

  @Test("What a unique index of another program refuses is not stored, and its transaction fails")
  func uniqueSide() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 5), post(2, likes: 6)])
      try file.tamper("CREATE UNIQUE INDEX theirs ON \(Self.table)__f10 (f10) WHERE f10 > 0")
      let outcome = try file.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.changeRequest(post(2)))
        request.likes = 5
        #expect(throws: (any Error).self) { try txn.submit(request) }
      }
      #expect(!outcome.isCommitted)
      #expect(file.posts.all().map(\.likes) == [5, 6])
      let errors = file.takeErrors()
      #expect(errors.map(\.cause) == [.other], "\(errors)")
      #expect(errors.first?.message.contains("unique index") == true)
      // It goes on with values that the index allows.
      try file.change(2) { $0.likes = 7 }
      #expect(file.posts.where(Post.likes == 7).map(\.number) == [2])
    }
  }

  @Test("Keys that SQLite would compare otherwise than by their bytes are refused")
  func collations() async throws {
    try await withTemporaryFile { file in
      try file.store([post(1), post(2)])
      try replace(
        """
        (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT COLLATE NOCASE, __pk1 INTEGER, \
        p BLOB, UNIQUE (__pk0, __pk1))
        """, in: file)
      let other = file.secondWorkspace()
      let dflat = other.dflat
      func isRefusal(_ error: (any Error)?) -> Bool {
        (error as? StorageError)?.message.contains("compares text as NOCASE") == true
      }
      var upper = post(1, likes: 9)
      upper = Post(site: "S", number: upper.number, likes: upper.likes)
      let changed = upper
      let refused = await #expect(throws: StorageError.self) {
        try await dflat.write(Post.self) { try $0.upsert(changed) }
      }
      #expect(isRefusal(refused), "\(refused as Any)")
      #expect(other.posts.where(Post.site == "S").isEmpty)
      #expect(dflat.find(Post.self, (site: "S", number: 1)) == nil)
      let errors = other.takeErrors()
      #expect(errors.count >= 2 && errors.allSatisfy(isRefusal), "\(errors)")
      // All objects can be read, for a copy.
      #expect(other.posts.all().map(\.likes) == [0, 0])
      let findings = try await dflat.checkIntegrity(of: Post.self)
      #expect(findings.map(\.kind) == [.damagedFile], "\(findings)")
      #expect(findings.first?.message.contains("NOCASE") == true)
      await dflat.shutdown()
    }
  }

  @Test("Objects that have the same key already are reported, and can be deleted")
  func equalKeys() async throws {
    try await withTemporaryFile { file in
      try file.store([post(1)])
      try replace(
        "(rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, __pk1 INTEGER, p BLOB)", in: file)
      try file.tamper(
        "INSERT INTO \(Self.table) (__pk0, __pk1, p) SELECT __pk0, __pk1, p FROM \(Self.table)")
      let stored = file.posts.all()
      try await file.dflat.write(Post.self) { try $0.delete(stored[0]) }
      let error = try #require(file.takeErrors().first)
      #expect(error.cause == .corruptFile && error.message.contains("the same primary key"))
      #expect(file.posts.all().count == 1)
      // Now it gets its index.
      try file.tamper("CREATE TABLE other (x)")
      let refusal = await #expect(throws: StorageError.self) {
        try await file.dflat.write(Post.self) { try $0.insert(post(1)) }
      }
      #expect(refusal?.cause == .alreadyExists)
    }
  }

  @Test("A table without AUTOINCREMENT is named, with what to do")
  func reusedIDs() async throws {
    try await withTemporaryFile { file in
      try file.tamper(
        """
        CREATE TABLE \(Self.table) (rowid INTEGER PRIMARY KEY, __pk0 TEXT, __pk1 INTEGER, \
        p BLOB, UNIQUE(__pk0, __pk1))
        """)
      try await file.dflat.write(Post.self) { try $0.insert(post(1)) }
      try file.tamper("DROP TRIGGER IF EXISTS none")
      let error = await #expect(throws: StorageError.self) {
        for number in 2...9 as ClosedRange<Int32> {
          try await file.dflat.write(Post.self) { try $0.insert(post(number)) }
          try file.tamper("CREATE TABLE other\(number) (x)")
        }
      }
      #expect(error?.message.contains("without AUTOINCREMENT") == true, "\(error as Any)")
      #expect(error?.recoverySuggestion?.contains("dflat copy OLD NEW") == true)
      _ = file.takeErrors()
    }
  }

  @Test("A check names a table of which transactions fail, since row ids could be used again")
  func reusedIDsAreFound() async throws {
    try await withTemporaryFile { file in
      let definition =
        "(rowid INTEGER PRIMARY KEY, __pk0 TEXT, __pk1 INTEGER, p BLOB, UNIQUE(__pk0, __pk1))"
      try file.tamper("CREATE TABLE \(Self.table) \(definition)")
      let refused = try await file.dflat.check(CheckOptions(of: Post.self))
      #expect(refused.findings.map(\.what) == [.takenName] && refused.worst == .damage)
      #expect(refused.findings.first?.message.contains("transactions of the type fail") == true)
      #expect(refused.nextStep.contains("dflat copy OLD NEW"))
      // With the counters of another table.
      try file.tamper("CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT)")
      let noted = try await file.dflat.check(CheckOptions(of: Post.self))
      #expect(noted.findings.map(\.what) == [.takenName] && noted.worst == .note)
      #expect(noted.checkedTypes == ["Post"])
    }
  }

  @Test("A check names a table of another program that lacks what objects need")
  func otherColumns() async throws {
    try await withTemporaryFile { file in
      try file.tamper(
        "CREATE TABLE \(Self.table) (rowid INTEGER PRIMARY KEY, __pk0 TEXT, __pk1 INTEGER)")
      let report = try await file.dflat.check(CheckOptions(of: Post.self))
      #expect(report.findings.map(\.what) == [.takenName] && report.worst == .damage)
      #expect(report.findings.first?.message.contains("no such column: p") == true)
      #expect(report.nextStep.contains("ALTER TABLE") && report.checkedTypes.isEmpty)
    }
  }

  @Test("A check names what is kept as a schema and is none")
  func schemas() async throws {
    try await withTemporaryFile { file in
      try file.store([post(1)])
      try file.tamper("UPDATE dflat_schemas SET schema = 'no bytes'")
      let texts = try await file.dflat.check(CheckOptions(of: Post.self)).findings
      #expect(texts.map(\.what) == [.damagedSchema], "\(texts)")
      #expect(texts.first?.message.contains(Self.table) == true)
      try file.tamper("DROP TABLE dflat_schemas; CREATE TABLE dflat_schemas (x)")
      let other = try await file.dflat.check(CheckOptions(of: Post.self)).findings
      #expect(other.map(\.what) == [.takenName] && other.first?.severity == .note, "\(other)")
      #expect(other.first?.table == "dflat_schemas")
    }
  }
}
