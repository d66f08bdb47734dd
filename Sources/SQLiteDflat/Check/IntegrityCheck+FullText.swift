// IntegrityCheck+FullText: compares the words in a full-text table with the texts of the objects.
//
//  - FTS5 lists its words by word, not by row. So each row has one number, the sum of the hashes of
//    its words with their places: the words of the object are added, those of the table subtracted.
//    What is not zero in the end differs.
//  - A large table is read several times, for `rowsAtOnce` objects each, so memory is bounded.
//  - A table that is not marked as far as it reaches may have any content, and is emptied before it
//    is used again. It is compared as far as it reaches, like a side table.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension IntegrityCheck {
  /// Compares a full-text table that exists with the objects.
  mutating func checkWords(of table: FullTextTable, _ main: TableSQL) throws {
    guard let readers = table.readers else { return }
    do {
      guard let extent = try IndexExtent.read(of: table, connection) else {
        // The same again, for the error.
        _ = try connection.rows(table.extent)
        return
      }
      let mark = extent.verified ?? IndexMarks.nothing
      let last = mark == IndexMarks.everything ? mark : max(mark, extent.side ?? mark)
      if last == IndexMarks.nothing { return }
      // Searches do not use what another version of the schema has filled with its defaults.
      if extent.verified == nil, try exists(IndexMarks.table),
        try IndexMarks.isOfOtherDefault(table, connection)
      {
        return
      }
      if mark == IndexMarks.everything,
        try table.guards.stand(on: connection, isCommitted: true)
      {
        trusted.insert(table.table)
      }
      var check = WordCheck(table, readers, main, last)
      try check.run(&self, rowsAtOnce: rowsAtOnce)
    } catch let error as SQLiteError {
      // Without FTS5, searches do not use the table.
      if error.isMissingModule { return }
      guard error.mayBeDamage else { throw error }
      add(IntegrityFinding(.damagedIndex, table: table.table, message: error.message))
    }
  }
}

private struct WordCheck {
  private let table: FullTextTable
  private let readers: [IndexColumn]
  private let main: TableSQL
  /// The last row that the table should have.
  private let last: Int64
  /// Rows that need no further finding.
  private var reported: Set<Int64> = []
  /// The hashes of the words that the objects have, less those that the table has.
  private var sums: [Int64: Int] = [:]

  init(_ table: FullTextTable, _ readers: [IndexColumn], _ main: TableSQL, _ last: Int64) {
    self.table = table
    self.readers = readers
    self.main = main
    self.last = last
  }

  mutating func run(_ check: inout IntegrityCheck, rowsAtOnce: Int) throws {
    try findOrphans(&check)
    let words = "temp.\("\(table.table)__words".quoted)"
    try check.connection.execute(
      "CREATE VIRTUAL TABLE \(words) USING fts5vocab('main', \(table.table.sqlText), 'instance')")
    defer { try? check.connection.execute("DROP TABLE \(words)") }
    var first = Int64.min
    while !check.isFull {
      let end = try addObjects(from: first, atMost: rowsAtOnce, &check)
      try subtractWords(in: words, of: first...(end ?? last), &check)
      try findDifferences(&check)
      guard let end, end < last else { return }
      first = end + 1
    }
  }

  private mutating func report(
    _ kind: IntegrityFinding.Kind, _ row: Int64, _ message: String, _ check: inout IntegrityCheck
  ) {
    if reported.insert(row).inserted {
      check.add(IntegrityFinding(kind, table: table.table, rowid: row, message: message))
    }
  }

  private mutating func findOrphans(_ check: inout IntegrityCheck) throws {
    let rows = try check.connection.statement(
      "SELECT d.id FROM \(table.rowTable.quoted) AS d LEFT JOIN \(main.quoted) AS m "
        + "ON m.rowid = d.id WHERE m.rowid IS NULL AND d.id <= ?")
    try rows.bind(1, last)
    while try rows.step(), !check.isFull {
      report(
        .orphanIndexRow, rows.int64(0), "the full-text table has a row without an object", &check)
    }
  }

  /// Adds the words of objects from a row on.
  /// - Returns: The last row, if there may be more.
  private mutating func addObjects(
    from first: Int64, atMost limit: Int, _ check: inout IntegrityCheck
  ) throws -> Int64? {
    sums.removeAll(keepingCapacity: true)
    let rows = try check.connection.statement(
      "SELECT m.rowid, m.p, d.id FROM \(main.quoted) AS m LEFT JOIN \(table.rowTable.quoted) AS d "
        + "ON d.id = m.rowid WHERE m.rowid BETWEEN ? AND ? ORDER BY m.rowid")
    try rows.bind(1, first)
    try rows.bind(2, last)
    while try rows.step(), !check.isFull {
      let id = rows.int64(0)
      if rows.isNull(2) {
        report(.missingIndexRow, id, "the full-text table lacks the object", &check)
        continue
      }
      sums[id] = sum(rows.object(1, of: main.schema))
      if sums.count == limit { return id }
    }
    return nil
  }

  /// The sum for the words of an object.
  private func sum(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let row = RowView(root: bytes) else { return 0 }
    var sum = 0
    for (column, tokenizer) in zip(readers, table.tokenizers) {
      var name = column.name
      name.withUTF8 { name in
        column.withValue(of: row) { value in
          guard case .text(let text) = value else { return }
          tokenizer.forEachWord(in: text) { word, number in
            sum &+= hash(UnsafeRawBufferPointer(name), Int64(number), word)
          }
        }
      }
    }
    return sum
  }

  private func hash(
    _ column: UnsafeRawBufferPointer, _ number: Int64, _ word: UnsafeRawBufferPointer
  ) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: column)
    hasher.combine(number)
    hasher.combine(bytes: word)
    return hasher.finalize()
  }

  /// Subtracts the words that the table has for the rows of a range.
  private mutating func subtractWords(
    in words: String, of range: ClosedRange<Int64>, _ check: inout IntegrityCheck
  ) throws {
    let rows = try check.connection.statement("SELECT doc, col, offset, term FROM \(words)")
    while try rows.step(), !check.isFull {
      let id = rows.int64(0)
      guard range.contains(id) else { continue }
      if sums[id] == nil {
        if !reported.contains(id) {
          report(
            .orphanIndexRow, id, "the full-text table has words of a row without an object", &check)
        }
        continue
      }
      guard let column = rows.utf8(1), let word = rows.utf8(3) else { continue }
      let value = hash(UnsafeRawBufferPointer(column), rows.int64(2), UnsafeRawBufferPointer(word))
      sums[id, default: 0] &-= value
    }
  }

  private mutating func findDifferences(_ check: inout IntegrityCheck) throws {
    if check.isFull { return }
    let row = try check.connection.statement("SELECT p FROM \(main.quoted) WHERE rowid = ?")
    for id in sums.filter({ $0.value != 0 }).keys.sorted() where !check.isFull {
      try row.bind(1, id)
      // Damaged objects have their own finding.
      if try row.step(), !main.schema.isDamaged(row.object(0, of: main.schema)) {
        report(.wrongWords, id, "the full-text table has other words than the object", &check)
      }
      row.reset()
    }
  }
}
