// Compound indexes in files: how they are used, noticed to be wrong, repaired and kept beside other
// versions of a program.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import Dflat
@testable import SQLiteDflat

@Suite("Compound indexes")
struct CompoundIndexTests {
  private typealias Memo = Desk.Memo
  private let main = "desk__memo_v1"
  private let dates = "desk__memo_v1__x__f6__x__f8"
  private let titles = "desk__memo_v1__x__f12__x__f6__x__f10__nocase"

  private func store(_ numbers: ClosedRange<Int32>, in file: TemporaryFile) throws {
    try file.write([Memo.self]) { txn in
      for number in numbers {
        try txn.submit(
          Desk.MemoChangeRequest.creationRequest(
            Memo(
              number: number, archived: number % 3 == 0, sortDate: Int64(number % 7),
              title: "Title \(number % 5)", state: number % 2 == 0 ? .done : .open,
              topic: number % 4 == 0 ? nil : "t", issue: number, score: number % 3)))
      }
    }
  }

  private func memos(_ file: TemporaryFile) -> QueryBuilder<Memo> {
    file.dflat.fetch(for: Memo.self)
  }

  /// Queries of several indexes against plain filters.
  /// - Parameter inBothVersions: Also as a program of the other version.
  private func expectRight(
    _ file: TemporaryFile, _ comment: Comment? = nil, inBothVersions: Bool = false
  ) {
    let all = memos(file).all()
    for date in 0..<7 as Range<Int64> {
      #expect(
        memos(file).where(!Memo.archived && Memo.sortDate == date).map(\.number)
          == all.filter { !$0.archived && $0.sortDate == date }.map(\.number), comment)
    }
    let titled = memos(file).where(
      Memo.state == .done && Memo.archived && Memo.title.caseInsensitive == "title 1")
    #expect(
      titled.map(\.number)
        == all.filter { $0.state == .done && $0.archived && $0.title?.lowercased() == "title 1" }
        .map(\.number), comment)
    let latest = memos(file).where(
      !Memo.archived, limit: 10, orderBy: [Memo.sortDate.descending])
    #expect(
      latest.map(\.number)
        == all.filter { !$0.archived }.sorted {
          ($1.sortDate, $0._rowid) < ($0.sortDate, $1._rowid)
        }.prefix(10).map(\.number), comment)
    guard inBothVersions else { return }
    let next = file.dflat.fetch(for: DESK.Memo.self)
    let nextAll = next.all()
    for state in [.open, .waiting, .done] as [DESK.State] {
      #expect(
        next.where(DESK.Memo.archived && DESK.Memo.state == state && DESK.Memo.number > 5)
          .map(\.number)
          == nextAll.filter { $0.archived && $0.state == state && $0.number > 5 }.map(\.number),
        comment)
    }
  }

  private func faults(_ file: TemporaryFile, complete: Bool = false) throws -> [String] {
    try unsoundness(of: Memo._schema, file.foreignConnection(), complete: complete)
      .filter { !$0.contains("key columns") }
  }

  private func waitForStep(_ file: TemporaryFile) throws { try file.write([Memo.self]) { _ in } }

  // MARK: Plans

  /// The explanation of a query that wants only the values of some fields.
  private func explain(
    _ file: TemporaryFile, _ condition: Condition<Memo>, _ reading: [FieldDescriptor],
    orderBy: [OrderBy<Memo>] = []
  ) throws -> QueryExplanation {
    try memos(file).workspace.explain(
      Query(
        schema: Memo._schema, condition: condition._node, order: orderBy.map(\.term),
        reading: reading))
  }

  @Test("The dates of notes that are not archived: first a scan, then a search of the index alone")
  func covering() async throws {
    try await withTemporaryFile { file in
      try store(1...500, in: file)
      try file.tamper("DROP TABLE \(dates); DROP TABLE \(main)__x__f6__x__f24")
      let date = Memo.sortDate.descriptor
      let before = try explain(file, !Memo.archived, [date], orderBy: [Memo.sortDate.descending])
      #expect(before.plan == ["SCAN m"] && !before.isCovering && before.isSortedInMemory)
      #expect(before.rowByRow == "!archived")
      try await file.dflat.indexesReady(for: Memo.self)
      let after = try explain(file, !Memo.archived, [date], orderBy: [Memo.sortDate.descending])
      #expect(after.isCovering && after.indexedFields == ["archived, sort_date"])
      #expect(after.rowByRow == nil && !after.isSortedInMemory)
      #expect(after.indexes == [dates])
      #expect(
        after.plan.first?.hasPrefix("SEARCH s USING COVERING INDEX index__\(dates) (f6=?)") == true,
        "\(after.plan)")
      #expect(after.statement?.contains(main + "\"") == false, "\(after.statement ?? "")")
      // Whole objects, or other fields, need the objects.
      let title = Memo.title.descriptor
      #expect(try !explain(file, !Memo.archived, [date, title]).isCovering)
      #expect(try !memos(file).explain(where: !Memo.archived).isCovering)
      // What the index cannot decide needs them, too.
      #expect(try !explain(file, !Memo.archived && Memo.text == "x", [date]).isCovering)
    }
  }

  @Test("The values that an index covers are those of the objects")
  func coveredValues() throws {
    try withTemporaryFile { file in
      try store(1...50, in: file)
      let connection = try file.foreignConnection()
      let sql = TableSQL(Memo._schema)
      let fields = [Memo.sortDate.descriptor, Memo.archived.descriptor]
      let query = Query(
        schema: Memo._schema, condition: (Memo.archived && Memo.sortDate > 2)._node,
        order: [Memo.sortDate.ascending.term], reading: fields)
      let plan = Plan(query, QueryCapabilities(ordersUnsigned: false)) { _ in true }
      let positions = try #require(plan.covers(fields))
      #expect(positions == [1, 0] && plan.isCovered)
      let expected = memos(file).where(
        Memo.archived && Memo.sortDate > 2, orderBy: [Memo.sortDate.ascending])
      func rows(_ selection: Plan.Projection) throws -> [[SQLValue]] {
        let select = SelectSQL(plan, sql, selection)
        let statement = try connection.statement(select.text)
        try select.bind(to: statement)
        var rows: [[SQLValue]] = []
        while try statement.step() {
          rows.append((0..<statement.columnCount).map { statement.value($0) })
        }
        return rows
      }
      #expect(
        try rows(.values(positions))
          == expected.map { [.integer($0.sortDate), .integer(1)] })
      #expect(try rows(.values([])) == expected.map { [.integer($0._rowid)] })
      #expect(try rows(.count) == [[.integer(Int64(expected.count))]])
      #expect(!expected.isEmpty)
    }
  }

  @Test("The index with most fixed columns is chosen, then one with a range, then with the order")
  func choice() throws {
    try withTemporaryFile { file in
      try store(1...50, in: file)
      func index(
        _ condition: Condition<Memo>, limit: Limit = .noLimit, _ order: [OrderBy<Memo>] = []
      ) throws -> [String] {
        try memos(file).explain(where: condition, limit: limit, orderBy: order).indexedFields
      }
      #expect(try index(!Memo.archived && Memo.sortDate > 3) == ["archived, sort_date"])
      #expect(try index(!Memo.archived && Memo.tag == "x") == ["archived, tag"])
      #expect(try index(Memo.score == 1 && Memo.archived) == ["score"])
      #expect(
        try index(Memo.score == 1 && Memo.archived, limit: 3, [Memo.sortDate.ascending])
          == ["archived, sort_date"])
      #expect(try index(Memo.score > 1 && Memo.archived) != ["score"])
      #expect(try index(Memo.number == 1 && Memo.archived && Memo.sortDate == 3) == ["number"])
      #expect(
        try index(Memo.state == .done && Memo.archived && Memo.title.caseInsensitive > "b")
          == ["state, archived, title nocase"])
      #expect(try index(Memo.title.caseInsensitive == "title 1") == ["title nocase"])
      #expect(try index(Memo.title == "Title 1") == [])
      #expect(try index(Memo.title.caseInsensitive.hasPrefix("TITLE")) == ["title nocase"])
      #expect(
        try index(
          Memo.state == .done && Memo.archived && Memo.title.caseInsensitive.hasPrefix("TITLE"))
          == ["state, archived, title nocase"])
      #expect(
        memos(file).where(Memo.title.caseInsensitive.hasPrefix("TITLE 3")).count
          == memos(file).all().count { $0.title == "Title 3" })
      #expect(
        try memos(file).explain(
          limit: 3, orderBy: [Memo.archived.descending, Memo.sortDate.descending]
        ).indexedFields == ["archived, sort_date"])
      let mixed = try memos(file).explain(
        limit: 3, orderBy: [Memo.archived.descending, Memo.sortDate.ascending])
      #expect(mixed.isSortedInMemory && mixed.indexes.isEmpty)
    }
  }

  @Test("SQLite searches the index by its columns, and sorts nothing that the index has in order")
  func searches() throws {
    try withTemporaryFile { file in
      try store(1...50, in: file)
      let plan = try memos(file).explain(
        where: !Memo.archived && Memo.sortDate > 2, limit: 3, orderBy: [Memo.sortDate.ascending])
      #expect(
        plan.plan == [
          "SEARCH s USING COVERING INDEX index__\(dates) (f6=? AND f8>?)",
          "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
        ])
    }
  }

  // MARK: Other programs

  enum Tampering: String, CaseIterable, Sendable {
    case changedValue = "UPDATE side SET f8 = 3 WHERE rowid = 5"
    case changedFirstValue = "UPDATE side SET f6 = 1 - f6 WHERE rowid = 7"
    case removedValue = "DELETE FROM side WHERE rowid = 20"
    case removedInside = "DELETE FROM side WHERE rowid IN (3, 4)"
    case removedValues = "DELETE FROM side"
    case addedValue = "INSERT INTO side VALUES (66, 0, 3)"
    case replacedValue = "REPLACE INTO side VALUES (5, 0, 3)"
    case removedObject = "DELETE FROM main WHERE rowid = 5"
    case changedObject = """
      UPDATE main SET p = (SELECT p FROM main WHERE rowid = 8) WHERE rowid = 4
      """
    case insertedObject = """
      INSERT INTO main (__pk0, p) SELECT 99, p FROM main WHERE rowid = 4
      """
    case droppedIndex = "DROP TABLE side"
    case otherShape = """
      DROP TABLE side; CREATE TABLE side (rowid INTEGER PRIMARY KEY, f6 INTEGER, f8 INTEGER);
      INSERT INTO side SELECT rowid, 0, 4 FROM main
      """
    case takenTogether = """
      REPLACE INTO unique_side SELECT 3, f26, f28 FROM unique_side WHERE rowid = 2
      """
    case withoutGuards = """
      DROP TRIGGER "_dflat_side_update"; UPDATE side SET f8 = 5 WHERE rowid = 2
      """
    case withoutMarks = "DELETE FROM _dflat_index; UPDATE side SET f8 = 5 WHERE rowid = 2"
    case foldedWrongly = """
      UPDATE title_side SET f10__nocase = 'Title 1' WHERE f10__nocase = 'title 1'
      """
  }

  @Test("Changes by other programs are noticed and corrected", arguments: Tampering.allCases)
  func tampering(_ tampering: Tampering) throws {
    try withTemporaryFile { file in
      try store(1...40, in: file)
      expectRight(file)
      let sql = tampering.rawValue
        .replacing("unique_side", with: "desk__memo_v1__x__f26__x__f28")
        .replacing("title_side", with: titles).replacing("side", with: dates)
        .replacing("main", with: main)
      try file.tamper(sql)
      expectRight(file, "\(tampering)")
      let other = file.secondWorkspace()
      expectRight(other, "\(tampering)")
      try store(50...52, in: other)
      expectRight(file, "\(tampering)")
      for _ in 0..<3 { try waitForStep(file) }
      expectRight(file, "\(tampering)")
      #expect(try faults(file) == [])
      other.dflat.shutdown()
    }
  }

  @Test("Upstream's rows, without compound indexes and guards' knowledge, are found and indexed")
  func upstreamWrites() async throws {
    try await withTemporaryFile { file in
      try store(1...40, in: file)
      // Upstream knows the main table and the side tables of fields only.
      try file.tamper(
        """
        BEGIN;
        INSERT INTO \(main) (rowid, __pk0, p) SELECT 41, 41, p FROM \(main) WHERE rowid = 12;
        INSERT INTO \(main)__f32 SELECT 41, f32 FROM \(main)__f32 WHERE rowid = 12;
        COMMIT
        """)
      let marks = try file.sqlite3(
        "SELECT DISTINCT verified FROM _dflat_index WHERE side LIKE '%\\_\\_x\\_\\_%' ESCAPE '\\'")
      #expect(marks == "40")
      #expect(memos(file).where(Memo.archived && Memo.sortDate == 5).map(\._rowid).contains(41))
      expectRight(file)
      try await file.dflat.indexesReady(for: Memo.self)
      let plan = try memos(file).explain(where: Memo.archived && Memo.sortDate == 6)
      #expect(plan.indexes == [dates])
      expectRight(file)
    }
  }

  @Test("A large index is built in steps, and goes on after the last verified row")
  func resumed() async throws {
    try await withTemporaryFile { file in
      try store(1...3000, in: file)
      await file.dflat.shutdown()
      try file.tamper("DROP TABLE \(dates); DELETE FROM _dflat_index WHERE side = '\(dates)'")
      let first = file.secondWorkspace()
      #expect(memos(first).where(!Memo.archived && Memo.sortDate == 1).count == 286)
      try waitForStep(first)
      await first.dflat.shutdown()
      let done = Int(try file.sqlite3("SELECT max(rowid) FROM \(dates)")) ?? 0
      #expect(done >= 500)
      let second = file.secondWorkspace()
      expectRight(second)
      try await second.dflat.indexesReady(for: Memo.self)
      await second.dflat.shutdown()
      #expect(try faults(file, complete: true) == [])
    }
  }

  // MARK: Versions

  /// A program of another version changes objects.
  private static func changeAsNext(_ file: TemporaryFile, _ first: Int32) throws {
    try file.write([DESK.Memo.self]) { txn in
      try txn.submit(
        DESK.MemoChangeRequest.creationRequest(
          DESK.Memo(number: first, archived: true, sortDate: 6, title: "TITLE 1", state: .done)))
      let request = try #require(DESK.MemoChangeRequest.changeRequest(DESK.Memo(number: 6)))
      request.archived.toggle()
      request.state = .waiting
      try txn.submit(request)
      try txn.submit(
        try #require(DESK.MemoChangeRequest.deletionRequest(DESK.Memo(number: first % 40 + 1))))
    }
  }

  @Test(
    "A version without some of the indexes keeps them up, in the same process and in another",
    arguments: [true, false])
  func versions(sameWorkspace: Bool) throws {
    try withTemporaryFile { file in
      try store(1...40, in: file)
      expectRight(file)
      let next = sameWorkspace ? file : file.secondWorkspace()
      for number in 60..<70 as Range<Int32> {
        try Self.changeAsNext(next, number)
        expectRight(file, "\(number)", inBothVersions: true)
        expectRight(next, "\(number)", inBothVersions: true)
        try store(number + 100...number + 100, in: file)
        expectRight(next, "\(number)", inBothVersions: true)
      }
      for _ in 0..<3 { try waitForStep(file) }
      expectRight(file, inBothVersions: true)
      // Two columns have another default in the other version.
      #expect(try faults(file).filter { !$0.contains("f12") && !$0.contains("f24") } == [])
      if !sameWorkspace { next.dflat.shutdown() }
    }
  }

  @Test("A version without some of the indexes runs in another process")
  func otherProcess() async throws {
    try await withTemporaryFile { file in
      try store(1...40, in: file)
      expectRight(file)
      for round in 0..<2 as Range<Int32> {
        let (path, first) = (file.path, 60 + 10 * round)
        await #expect(processExitsWith: .success) {
          [path = path as String, first = first as Int32] in
          let next = TemporaryFile(path: path)
          for number in first..<first + 4 { try Self.changeAsNext(next, number) }
          try await next.dflat.indexesReady(for: DESK.Memo.self)
          await next.dflat.shutdown()
        }
        expectRight(file, "\(round)", inBothVersions: true)
        try store(200 + round...200 + round, in: file)
        expectRight(file, "\(round)")
      }
      #expect(memos(file).where(Memo.number >= 60).count == 10)
      try await file.dflat.indexesReady(for: Memo.self)
      #expect(try faults(file) == [])
    }
  }

  @Test("Stored duplicates of values that have become unique stay, and new ones are refused")
  func becomingUnique() throws {
    try withTemporaryFile { file in
      try file.write([DESK.Memo.self]) { txn in
        for number in [1, 2, 3] as [Int32] {
          try txn.submit(
            DESK.MemoChangeRequest.creationRequest(
              DESK.Memo(number: number, topic: "t", issue: number == 3 ? 8 : 7)))
        }
      }
      let outcome = try file.write([Memo.self]) { txn in
        #expect(throws: TransactionError.self) {
          try txn.submit(
            Desk.MemoChangeRequest.creationRequest(Memo(number: 4, topic: "t", issue: 8)))
        }
        try txn.submit(
          Desk.MemoChangeRequest.creationRequest(Memo(number: 5, topic: "u", issue: 7)))
      }
      #expect(outcome.isCommitted)
      #expect(memos(file).where(Memo.topic == "t" && Memo.issue == 7).map(\.number) == [1, 2])
      try waitForStep(file)
      #expect(memos(file).where(Memo.topic == "t" && Memo.issue == 7).map(\.number) == [1, 2])
      let errors = file.takeErrors().map { "\($0)" }
      #expect(errors.contains { $0.contains("topic") }, "\(errors)")
    }
  }
}
