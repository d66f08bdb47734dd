// The columns of a row as parameters of a statement.

import Dflat
import FlatBuffersRuntime

extension PostgresWriter {
  static func reading(_ bytes: UnsafeRawBufferPointer) -> TableReader {
    guard let row = TableReader(root: bytes) else {
      preconditionFailure("a row was built that cannot be read")
    }
    return row
  }

  /// Sets the parameters for the columns of a row beside its bytes: its key, the indexed values,
  /// and what searches use.
  /// - Parameter first: The place of the first parameter.
  func setColumns(_ table: WriteTable, _ row: TableReader, from first: Int) {
    connection.parameters.set(keyOf: row, table.table, from: first)
    var place = first + table.table.schema.keyReaders.count
    for column in table.columns {
      connection.parameters.set(place, column, of: row)
      place += 1
    }
    if let words = table.words {
      connection.parameters.set(place, words, of: row)
      place += 1
    }
    for elements in table.elements {
      connection.parameters.set(place, elements, of: row)
      place += 1
    }
  }
}
