// A table of elements as the writer knows it.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// An object up to `verified` has its rows, and is kept right. What the table has of later objects
/// means nothing, until a step of the build reaches them.
final class WriterElements {
  let table: ElementTable
  /// Up to which row the table is known to agree with the objects; see `IndexMarks`.
  private(set) var verified: Int64
  @exclusivity(unchecked) private var insertion: KeptStatement
  @exclusivity(unchecked) private var removal: KeptStatement
  @exclusivity(unchecked) private var removalOfOne: KeptStatement

  init(_ table: ElementTable, verified: Int64) {
    self.table = table
    self.verified = verified
    insertion = KeptStatement(table.insert)
    removal = KeptStatement(table.delete)
    removalOfOne = KeptStatement(table.deleteOne)
  }

  /// Whether changes of these fields may change the elements.
  func isAffected(by fields: FieldSet) -> Bool { fields.contains(table.index.offset) }

  // MARK: Upkeep

  /// Adds the elements of a new object.
  func insert(_ row: RowView, _ id: Int64, _ connection: Connection) throws {
    if id <= verified { try add(row, id, connection) }
  }

  /// Changes the elements of an object: those that differ.
  func update(
    _ id: Int64, from old: RowView, to row: RowView, _ connection: Connection
  ) throws {
    guard id <= verified, !table.index.hasSameElements(old, row) else { return }
    let (before, after) = (StoredElement.all(of: old, table), StoredElement.all(of: row, table))
    try run(removalOfOne.on(connection), before.subtracting(after), of: id)
    try run(insertion.on(connection), after.subtracting(before), of: id)
  }

  private func run(
    _ statement: Statement, _ elements: Set<StoredElement>, of id: Int64
  ) throws {
    for element in elements {
      try element.withValue { value in
        try statement.bind(1, id)
        try statement.bind(2, column: value)
        try statement.run()
      }
    }
  }

  /// Removes the elements of an object.
  func delete(_ id: Int64, _ connection: Connection) throws {
    let statement = try removal.on(connection)
    try statement.bind(1, id)
    try statement.run()
  }

  private func add(_ row: RowView, _ id: Int64, _ connection: Connection) throws {
    let statement = try insertion.on(connection)
    try table.index.forEachElement(of: row) { element in
      try statement.bind(1, id)
      try statement.bind(2, column: element)
      try statement.run()
    }
  }

  /// Records up to which row the table agrees with the objects.
  func mark(_ last: Int64, _ connection: Connection) throws(SQLiteError) {
    verified = last
    try IndexMarks.set(last, of: table, main: table.main, connection)
  }

  // MARK: Building

  /// Adds the elements of objects that the table does not have yet.
  ///
  /// - Parameter limit: The largest number of objects.
  func fill(limit: Int, _ connection: Connection) throws -> IndexProgress {
    var filled = 0
    if limit > 0, verified != IndexMarks.everything {
      try removeUnverified(connection)
      filled = try add(limit: limit, connection)
    }
    if verified == IndexMarks.everything {
      return IndexProgress(filled: filled, remaining: 0, blocked: [])
    }
    let end = try connection.value("SELECT max(rowid) FROM \(table.main.quoted)")
    return IndexProgress(
      filled: filled, remaining: Int(max(1, (end?.integer ?? 0) - max(verified, 0))), blocked: [])
  }

  private func removeUnverified(_ connection: Connection) throws {
    let quoted = table.table.quoted
    if verified == IndexMarks.nothing { return try connection.execute("DELETE FROM \(quoted)") }
    try connection.execute("DELETE FROM \(quoted) WHERE owner > ?", [.integer(verified)])
  }

  /// - Returns: The number of objects whose elements were added.
  private func add(limit: Int, _ connection: Connection) throws -> Int {
    let rows = try connection.statement(
      "SELECT rowid, p FROM \(table.main.quoted) WHERE rowid >= ? ORDER BY rowid")
    try rows.bind(1, IndexMarks.first(behind: verified))
    var filled = 0
    var last = verified
    while try rows.step() {
      if last != IndexMarks.nothing, filled == limit {
        try mark(last, connection)
        return filled
      }
      last = rows.int64(0)
      if let row = RowView(root: rows.object(1, of: table.schema)) {
        try add(row, last, connection)
      }
      filled += 1
    }
    try mark(IndexMarks.everything, connection)
    return filled
  }
}

/// An element in a set: equal if SQLite considers them equal.
enum StoredElement: Hashable {
  case integer(Int64)
  case real(Double)
  case text([UInt8])

  /// nil for an unknown element.
  init?(_ value: ColumnValue) {
    switch value {
    case .null: return nil
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .real(value)
    case .text(let bytes): self = .text(Array(bytes))
    }
  }

  /// The elements that a table has for an object.
  static func all(of row: RowView, _ table: ElementTable) -> Set<StoredElement> {
    var elements: Set<StoredElement> = []
    table.index.forEachElement(of: row) { value in
      if let element = StoredElement(value) { elements.insert(element) }
    }
    return elements
  }

  /// Calls `body` with the value, which is valid until `body` returns.
  func withValue(_ body: (ColumnValue) throws -> Void) rethrows {
    switch self {
    case .integer(let value): try body(.integer(value))
    case .real(let value): try body(.real(value))
    case .text(let bytes): try bytes.withUnsafeBytes { try body(.text($0)) }
    }
  }
}
