// ColumnComparison: whether columns have the values of an object, for many rows.
//
// It finds what `PreparedStatement.holds` finds, without counting references for each row.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// Compares the columns of rows with the values that objects have for an index or the key.
struct ColumnComparison {
  private let columns: [IndexColumn]
  /// The same columns; nil if one of them is folded. They live as long as the columns.
  private let readers: [Unmanaged<ColumnReader>]?

  init(_ columns: [IndexColumn]) {
    self.columns = columns
    readers =
      columns.contains(where: \.isFolded)
      ? nil : columns.map { Unmanaged.passUnretained($0.reader) }
  }

  /// Whether the columns of the current row, from `first` on, are those of an object.
  @inline(__always)
  func holds(_ rows: borrowing Statement, _ object: TableReader, from first: Int) -> Bool {
    guard let readers else { return holdsByColumns(rows, object, from: first) }
    for index in readers.indices {
      let value = readers[index]._withUnsafeGuaranteedRef { $0.read(object) }
      // Other programs may store a value in another form.
      if !rows.isSame(value, at: first + index) {
        return holdsByColumns(rows, object, from: first)
      }
    }
    return true
  }

  @inline(never)
  private func holdsByColumns(
    _ rows: borrowing Statement, _ object: TableReader, from first: Int
  ) -> Bool {
    rows.holds(SideValues(columns, object), from: first)
  }
}
