// Pending texts: what FTS5 has in memory.
//
//  - FTS5 collects the words of many rows, and writes them at the next savepoint or at the commit.
//    Only then it reads most of what it needs of a table, and may find that the table is damaged.
//    So a savepoint or a commit would fail that has nothing to do with the table.
//  - Therefore the writer lets FTS5 write before each savepoint and each commit, and there replaces
//    the tables that turn out to be damaged.
//  - A damaged table is not replaced before that: SQLite drops no table while a query runs, such as
//    the one that reads the object to be deleted.

import SQLiteAccess

final class PendingTexts {
  // Asked for each change. Each access is short, so exclusivity holds without a check.

  /// The tables with words in memory, and those that were found to be damaged.
  @exclusivity(unchecked) private var tables: [WriterFullText] = []
  private var savepoint = Savepoint("texts")

  var isEmpty: Bool { tables.isEmpty }

  /// Notes that FTS5 gets words for a table.
  func add(_ table: WriterFullText) {
    if !tables.contains(where: { $0 === table }) { tables.append(table) }
  }

  /// Forgets all tables, after FTS5 has dropped their words, and the statements.
  func forget() {
    tables.removeAll()
    savepoint = Savepoint("texts")
  }

  /// Lets FTS5 write all words.
  func flush(_ connection: Connection) throws {
    try savepoint.begin(connection)
    try savepoint.keep(connection)
  }

  /// Lets FTS5 write all words, and replaces damaged tables by empty ones.
  /// - Returns: The names of the tables that were replaced.
  func settle(_ connection: Connection) throws -> [String] {
    var replaced: [String] = []
    while !tables.isEmpty {
      for table in tables where table.damage != nil {
        try table.replace(connection)
        replaced.append(table.table.table)
      }
      tables.removeAll { $0.damage != nil }
      do {
        try flush(connection)
        tables.removeAll()
      } catch let error as SQLiteError where error.mayBeDamage {
        if tables.isEmpty { throw error }
        // It is not known which one.
        for table in tables { try table.distrust(error, connection) }
      }
    }
    return replaced
  }
}
