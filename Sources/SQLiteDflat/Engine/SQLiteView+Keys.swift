// Rows and row ids by primary keys.

import Dflat
import SQLiteAccess

extension SQLiteView {
  func row(of schema: EntitySchema, with key: KeyValues) throws -> Row? {
    try withStorageErrors(table: schema.table) {
      try engine.row(of: schema, with: key, mark: .none, on: connection)
    }
  }

  func id(of schema: EntitySchema, with key: KeyValues) throws -> Int64? {
    try withStorageErrors(table: schema.table) {
      let sql = engine.sql(for: schema)
      guard let statement = try connection.statement(sql.selectID, reading: sql.table) else {
        return nil
      }
      return try id(with: key, statement, sql)
    }
  }

  func ids(of schema: EntitySchema, with keys: KeyList) throws -> [Int64?] {
    try withStorageErrors(table: schema.table) {
      try inOneState {
        let sql = engine.sql(for: schema)
        guard let statement = try connection.statement(sql.selectID, reading: sql.table) else {
          return keys.map { _ in nil }
        }
        switch keys {
        case .integers(let numbers):
          return try numbers.map { number in
            defer { statement.reset() }
            try statement.bind(1, number)
            return try statement.step(of: sql.table) ? statement.int64(0) : nil
          }
        case .values(let keys):
          return try keys.map { key in
            guard let key else { return nil }
            defer { statement.reset() }
            return try id(with: key, statement, sql)
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
