// What the writer looks up before it writes: an error of the server would end the transaction.

import Dflat
import FlatBuffersRuntime

extension PostgresWriter {
  func taken(_ schema: EntitySchema, _ key: String) -> StorageError {
    StorageError(
      .alreadyExists, table: schema.table, key: key, message: "another object has it already")
  }

  /// Refuses an update that gives an object a key or unique value of another one.
  func refuseTaken(
    _ schema: EntitySchema, _ id: Int64, from old: TableReader, to row: TableReader
  ) throws {
    let keepsKey = schema.keyReaders.allSatisfy { $0.read(row).isSame(as: $0.read(old)) }
    if !keepsKey, let owner = try owner(ofKeyIn: row, schema), owner != id {
      throw taken(schema, schema.describeKey(of: row))
    }
    for index in schema.indexes where index.isUnique {
      let isSame = index.columns.allSatisfy { $0.hasSameValue(old, row) }
      if !isSame { try refuseDuplicate(index, row, id, schema) }
    }
  }

  /// The row id of the object that has a row's key.
  func owner(
    ofKeyIn row: TableReader, _ schema: EntitySchema
  ) throws(PostgresError) -> Int64? {
    let table = engine.table(of: schema)
    connection.parameters.begin(keyOf: row, table)
    let rows = try connection.run(table.selectID)
    return rows.count > 0 ? rows.integer(0, 0) : nil
  }

  /// Refuses values of a unique index that another object has.
  func refuseDuplicate(
    _ index: IndexDescriptor, _ row: TableReader, _ id: Int64?, _ schema: EntitySchema
  ) throws {
    guard let condition = index.columns.sameValues(as: row),
      try owners(ofValuesIn: row, index, condition, schema).contains(where: { $0 != id })
    else { return }
    // If another object has the key, too, the error tells that.
    if id == nil, try owner(ofKeyIn: row, schema) != nil {
      throw taken(schema, schema.describeKey(of: row))
    }
    throw taken(schema, schema.describe(index.columns, of: row))
  }

  /// At most two objects with a row's values; if the index is not complete, each is looked at.
  private func owners(
    ofValuesIn row: TableReader, _ index: IndexDescriptor, _ condition: Node,
    _ schema: EntitySchema
  ) throws -> [Int64] {
    let table = engine.table(of: schema)
    let complete = completeColumns(of: table)
    guard index.columns.allSatisfy({ complete?[$0.columnName] == true }) else {
      let several = Query(schema: schema, condition: condition, limit: 2)
      let found = try rows(.query(several), mark: .none)
      return (0..<found.count).map { found[$0].id }
    }
    let parameters = connection.parameters
    parameters.begin(index.columns.count)
    for (place, column) in index.columns.enumerated() { parameters.set(place, column, of: row) }
    let found = try connection.run(table.selectOwners(by: index))
    return (0..<found.count).map { found.integer($0, 0) }
  }
}
