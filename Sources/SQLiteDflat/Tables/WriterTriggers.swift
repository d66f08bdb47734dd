// Writer triggers: what other programs have put into the file to be done with our changes.
//
//  - As long as there is nothing but index guards, triggers are off on the writing connection. Our
//    changes keep side tables in step.
//  - Where there are others, all triggers run, and guards lower the marks of what we change. After
//    each change the marks are put back, unless a trigger has changed rows of its own accord, in
//    the main table or a side table: then they stay lowered.

import SQLiteAccess

final class WriterTriggers {
  /// Whether there are triggers that are not ours.
  private(set) var areThere = false
  /// The rows that were changed since this was asked last.
  private var changed: [(table: String, id: Int64)] = []

  /// Looks which triggers there are, and has them run or not.
  func look(_ connection: Connection) throws(SQLiteError) {
    let other = try connection.statement(
      "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) <> ?")
    try other.bind(1, Int64(IndexGuard.prefix.utf8.count))
    try other.bind(2, IndexGuard.prefix)
    areThere = try other.step()
    if connection.runsTriggers != areThere { connection.runsTriggers = areThere }
    connection.rowChangeHandler =
      areThere ? { [unowned self] in changed.append((table: $0, id: $1)) } : nil
  }

  func begin() { if areThere { changed.removeAll() } }

  /// The tables in which triggers have changed rows, though not every one is of interest.
  /// - Parameters:
  ///   - tables: The tables in which one row was changed on purpose, or none.
  ///   - id: That row.
  func end(changing tables: [String], id: Int64) -> Set<String> {
    var expected = Set(tables)
    var others: Set<String> = []
    for change in changed where change.id != id || expected.remove(change.table) == nil {
      others.insert(change.table)
    }
    return others
  }
}
