// Rows and row ids by primary keys.

import Dflat
import SQLiteAccess

extension SQLiteView {
  func row(with key: KeyValues, _ schema: EntitySchema, _ mark: ReadMark) throws -> Row? {
    try withStorageErrors(table: schema.table) {
      try engine.row(of: schema, with: key, mark: mark, on: connection)
    }
  }

  /// Looks keys up by one statement, which is prepared once and reads no rows.
  func scanIDs(
    of keys: KeyList, _ schema: EntitySchema, _ body: (ScannedRow) throws -> Bool
  ) throws {
    try withStorageErrors(table: schema.table) {
      try inOneState {
        let sql = engine.sql(for: schema)
        try sql.requireOwnTable(on: connection)
        try sql.requireComparableKeys(on: connection)
        guard let statement = try connection.statement(sql.selectID, reading: sql.table) else {
          return
        }
        switch keys {
        case .integers(let numbers):
          for (place, number) in numbers.enumerated() {
            defer { statement.reset() }
            try statement.bind(1, number)
            guard try statement.step(of: sql.table) else { continue }
            if try !body(ScannedRow(id: statement.int64(0), place: place)) { return }
          }
        case .values(let keys):
          for (place, key) in keys.enumerated() {
            guard let key else { continue }
            defer { statement.reset() }
            guard let id = try id(with: key, statement, sql) else { continue }
            if try !body(ScannedRow(id: id, place: place)) { return }
          }
        }
      }
    }
  }

  private func id(
    with key: KeyValues, _ statement: Statement, _ sql: TableSQL
  ) throws -> Int64? {
    try statement.bind(1, constant: key.first)
    for index in key.rest.indices { try statement.bind(index + 2, constant: key.rest[index]) }
    return try statement.step(of: sql.table) ? statement.int64(0) : nil
  }
}
