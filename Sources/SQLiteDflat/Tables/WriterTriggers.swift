// Writer triggers: triggers of other programs that must run with our changes.
//
//  - As long as there are only index guards, triggers are off on the writing connection. Our
//    changes keep side tables consistent.
//  - If there are other triggers, all triggers run, and guards lower the marks of what we change.
//    After each change the marks are restored, unless a trigger has changed further rows in the
//    main table or a side table: then they stay lowered.

import SQLiteAccess

final class WriterTriggers {
  /// Whether there are triggers that are not ours.
  private(set) var areThere = false
  /// The rows changed since the last call of `end`.
  private var changed: [(table: String, id: Int64)] = []

  /// Checks which triggers exist, and turns triggers on or off.
  func look(_ connection: Connection) throws(SQLiteError) {
    areThere = try connection.value(Self.selectOthers) != nil
    if connection.runsTriggers != areThere { connection.runsTriggers = areThere }
    connection.rowChangeHandler =
      areThere ? { [unowned self] in changed.append((table: $0, id: $1)) } : nil
  }

  /// Whether one of them names a table, as each must that changes it.
  func name(_ table: String, _ connection: Connection) throws(SQLiteError) -> Bool {
    if !areThere { return false }
    let test = " AND instr(lower(sql), lower(?))"
    return try connection.value(Self.selectOthers + test, [.text(table)]) != nil
  }

  private static let selectOthers =
    "SELECT 1 FROM sqlite_master WHERE type = 'trigger'"
    + [IndexGuard.prefix, IndexGuard.fullTextPrefix, IndexGuard.elementPrefix]
    .map { " AND substr(name, 1, \($0.utf8.count)) <> \($0.sqlText)" }.joined()

  func begin() { changed.removeAll() }

  /// The tables in which triggers have changed rows; not every one matters to the caller.
  /// - Parameters:
  ///   - expected: How often one row of each table was changed on purpose, at most.
  ///   - id: That row.
  func end(changing expected: [String: Int], id: Int64) -> Set<String> {
    var expected = expected
    var others: Set<String> = []
    for change in changed {
      if change.id == id, let count = expected[change.table], count > 0 {
        expected[change.table] = count - 1
      } else {
        others.insert(change.table)
      }
    }
    return others
  }
}
