// ServerCheck+Objects: compares the columns of each row with its object.
//
// The rows are read in portions in the order of their ids, all in the same state. A portion is as
// large as its bytes allow.

import Dflat
import FlatBuffersRuntime

extension ServerCheck {
  /// Checks the objects of a table.
  /// - Parameter columns: Those that can be read as what they are.
  mutating func checkObjects(
    of table: CheckedTable, _ columns: [String: ServerColumn]
  ) throws {
    let pass = try ObjectPass(table, columns, self)
    var references = checksReferences ? try openReferences(of: table) : []
    let equalValues = openEqualValues(of: table, columns)
    var unlogged = UnloggedRows()
    var meter = CheckMeter(table.name, total: try estimate(of: table), onProgress)
    var last: Int64?
    var size = 64
    var isLast = false
    while !isLast, !isFull {
      try checkCancellation()
      let parameters = connection.parameters
      parameters.begin(2)
      parameters.set(0, last ?? .min)
      parameters.set(1, Int64(size))
      let rows = try connection.run(last == nil ? pass.selectFirst : pass.selectNext)
      var bytes = 0
      for row in 0..<rows.count where !isFull {
        bytes += rows.bytes(row, 1).count
        checkRow(rows, row, pass, &references)
        if let log { unlogged.meet(rows.integer(row, 0), xmin: rows.integer(row, 2), log, table) }
      }
      isLast = rows.count < size
      if rows.count > 0 {
        let ids = rows.integer(0, 0)...rows.integer(rows.count - 1, 0)
        last = ids.upperBound
        for values in equalValues where !isFull { try addEqual(values, in: ids, table) }
      }
      meter.count(rows.count)
      size = bytes < 1 << 20 ? min(4 * size, 4096) : bytes > 8 << 20 ? max(1, size / 4) : size
      for place in references.indices where !isFull {
        for finding in try references[place].lookUp(engine, connection, marks) where !isFull {
          add(
            .danglingReference, .note, table: table.name, row: finding.id, "\(finding)",
            advice: "nothing forbids it: look whether the program means it")
        }
      }
    }
    if let message = unlogged.message {
      add(
        .unloggedChange, .note, table: table.name, row: unlogged.firstRow, message,
        advice: "do nothing if a person or a restored dump has written them; logPlainSQL(of:) lets "
          + "the log know what plain SQL changes from then on")
    }
  }

  private mutating func checkRow(
    _ rows: borrowing Rows, _ row: Int, _ pass: ObjectPass, _ references: inout [OpenReference]
  ) {
    let id = rows.integer(row, 0)
    let bytes = rows.bytes(row, 1)
    guard let entity = pass.table.entity else {
      if TableReader(root: bytes) == nil {
        addDamaged(pass.table, id, "the bytes are no FlatBuffer")
      }
      return
    }
    let layout = entity.schema.layout
    var object: TableReader?
    do throws(VerificationError) {
      try layout.verify(bytes)
      object = TableReader(root: bytes)
    } catch { addDamaged(pass.table, id, error.reason) }
    if let object {
      if !pass.keysAreRight(rows, row, object) {
        add(
          .wrongKey, .damage, table: pass.table.name, row: id,
          "the key columns are not the object's key, \(entity.schema.describeKey(of: object))",
          advice:
            "DELETE FROM \(pass.table.quoted) WHERE rowid = \(id), and store the object again "
            + "in a program, or set the columns to its key")
      }
      if layout.hasRequiredFields {
        do throws(VerificationError) { try layout.verify(bytes, requiring: true) } catch {
          add(
            .missingField, .note, table: pass.table.name, row: id, error.reason,
            advice: "update the object in a program, with a value for the field")
        }
      }
      for place in references.indices { references[place].note(object, id) }
    }
    for column in pass.wrongColumns(rows, row, object, id) {
      add(
        .wrongIndexRow, .damage, table: pass.table.name, row: id,
        "the column \(column) has another value than the object",
        advice: "UPDATE \(system.columns) SET complete = false, reach = \(IndexMarks.nothing) "
          + "WHERE tbl = "
          + "\(pass.table.name.quotedText) AND col = \(column.quotedText); \(raiseVersion): the "
          + "next query that uses the index has it filled again")
    }
  }

  private mutating func addEqual(
    _ values: EqualValues, in ids: ClosedRange<Int64>, _ table: CheckedTable
  ) throws(PostgresError) {
    try values.forEach(in: ids, connection) { id, other in
      add(
        .equalValues, .note, table: table.name, row: id,
        "the object in row \(other) has equal values of \(values.fields), which has become unique",
        advice: "update one of them in a program: new equal values are refused, and these stay")
    }
  }

  private func openEqualValues(
    of table: CheckedTable, _ columns: [String: ServerColumn]
  ) -> [EqualValues] {
    guard let entity = table.entity, let marks = marks.tables[table.name] else { return [] }
    return entity.schema.indexes.compactMap { index in
      let isThere = index.columns.allSatisfy { columns[$0.columnName.shortName] != nil }
      return isThere ? EqualValues(index, of: entity, marks) : nil
    }
  }

  private mutating func addDamaged(_ table: CheckedTable, _ id: Int64, _ reason: String) {
    add(
      .damagedRow, .damage, table: table.name, row: id, reason,
      advice: "DELETE FROM \(table.quoted) WHERE rowid = \(id), and store the object again from a "
        + "dump")
  }

  /// How many rows the server takes a table to have.
  private func estimate(of table: CheckedTable) throws(PostgresError) -> Int {
    let answer = try ask(
      "SELECT greatest(reltuples, 0)::bigint FROM pg_class "
        + "WHERE oid = to_regclass(\(table.literal))")
    return answer.first?[0].flatMap { Int($0) } ?? 0
  }

  private func openReferences(of table: CheckedTable) throws -> [OpenReference] {
    var open: [OpenReference] = []
    for reference in table.entity?.schema.references ?? [] {
      let keys = ReferenceKeys(reference, of: table.entity?.schema ?? reference.target)
      // What is wrong with its table is found there.
      let target = "\(system.schema).\(keys.target.table.quotedName)"
      let isThere = try ask("SELECT to_regclass(\(target.quotedText)) IS NOT NULL")[0][0] == "t"
      if isThere || marks.tables[keys.target.table] == nil { open.append(OpenReference(keys)) }
    }
    return open
  }
}

/// What is read of the rows of a table.
private struct ObjectPass {
  let table: CheckedTable
  let selectFirst: StatementText
  let selectNext: StatementText
  /// For each column of the key that can be read, its place in the key. They come third.
  private let keys: [Int]
  private let columns: [IndexColumn]
  private let words: WordsColumn?
  private let elements: [ElementsColumn]
  /// Up to which row id each of these columns is right.
  private let reaches: [Int64]

  init(_ table: CheckedTable, _ stored: [String: ServerColumn], _ check: ServerCheck) throws {
    self.table = table
    let marks = check.marks.tables[table.name] ?? [:]
    func isReadable(_ name: String) -> Bool {
      marks[name] != nil && stored[name.shortName] != nil
    }
    let entity = table.entity
    keys = entity?.schema.primaryKey.indices.filter { stored["pk\($0)"] != nil } ?? []
    columns = marks.keys.sorted().compactMap { name in
      guard isReadable(name), !WordsColumn.isName(name),
        let column = entity?.schema.column(named: fieldName(ofColumn: name)),
        column.columnName == name
      else { return nil }
      return column
    }
    words = entity?.words.flatMap { isReadable($0.name) ? $0 : nil }
    elements = entity?.elements.filter { isReadable($0.name) } ?? []
    let names = columns.map(\.columnName) + [words?.name].compactMap(\.self) + elements.map(\.name)
    reaches = names.map { name in
      marks[name].map { $0.isComplete ? .max : $0.reach } ?? .min
    }
    let wordsName = words?.name
    let selected = names.map { name in
      name == wordsName ? "convert_to(\(name.quotedName)::text, 'UTF8')" : name.quotedName
    }
    let list = (["rowid", "p", "xmin::text::bigint"] + keys.map { "pk\($0)" } + selected)
      .joined(separator: ", ")
    selectFirst = StatementText(
      "SELECT \(list) FROM \(table.quoted) WHERE rowid >= $1 ORDER BY rowid LIMIT $2")
    selectNext = StatementText(
      "SELECT \(list) FROM \(table.quoted) WHERE rowid > $1 ORDER BY rowid LIMIT $2")
  }

  /// Whether the columns of the key are those of the object.
  func keysAreRight(_ rows: borrowing Rows, _ row: Int, _ object: TableReader) -> Bool {
    guard let entity = table.entity else { return true }
    for (place, key) in keys.enumerated() {
      let reader = entity.schema.keyReaders[key]
      let stored = rows.columnValue(row, 3 + place, reader.field.type)
      let value = reader.read(object)
      if case (.text(let text), .text(let bytes)) = (value, stored) {
        if !entity.keyTexts.holds(bytes, text) { return false }
      } else if !value.isEqual(to: stored) {
        return false
      }
    }
    return true
  }

  /// The columns of indexes that have another value than the object.
  /// - Parameter object: nil if it is damaged: then any values count as right.
  func wrongColumns(
    _ rows: borrowing Rows, _ row: Int, _ object: TableReader?, _ id: Int64
  ) -> [String] {
    guard let object else { return [] }
    var wrong: [String] = []
    var place = 3 + keys.count
    var reach = reaches.startIndex
    func isCovered() -> Bool {
      defer {
        reach += 1
        place += 1
      }
      return id <= reaches[reach]
    }
    for column in columns {
      let stored = rows.columnValue(row, place, column.field.type)
      if isCovered(), !column.withValue(of: object, { $0.isEqual(to: stored) }) {
        wrong.append(column.columnName)
      }
    }
    if let words {
      let isRight = !rows.isNull(row, place) && words.isRight(rows.text(row, place), for: object)
      if isCovered(), !isRight { wrong.append(words.name) }
    }
    for column in elements {
      let isRight = !rows.isNull(row, place) && column.isRight(rows.bytes(row, place), for: object)
      if isCovered(), !isRight { wrong.append(column.name) }
    }
    return wrong
  }
}

extension ColumnValue {
  /// Whether a column has the same value. Zero has two forms, which are equal to the server.
  fileprivate func isEqual(to stored: ColumnValue) -> Bool {
    if case (.real(0), .real(0)) = (self, stored) { return true }
    return isSame(as: stored)
  }
}

/// Keys in references that were not looked up yet.
private struct OpenReference {
  /// How many keys that were found are kept, so that they are not looked up again.
  private static let mostKnown = 20_000
  private let keys: ReferenceKeys
  private var known: Set<KeyValues> = []
  private var open: [(key: KeyValues, id: Int64)] = []

  init(_ keys: ReferenceKeys) { self.keys = keys }

  mutating func note(_ object: TableReader, _ id: Int64) {
    keys.forEach(object) { if !known.contains($0) { open.append(($0, id)) } }
  }

  /// Looks the keys up.
  mutating func lookUp(
    _ engine: PostgresEngine, _ connection: Connection, _ marks: IndexMarks
  ) throws -> [DanglingReference] {
    defer { open.removeAll(keepingCapacity: true) }
    let view = PostgresView(engine, connection, marks: marks)
    var dangling: [DanglingReference] = []
    let wanted = Array(Set(open.map(\.key)))
    if known.count + wanted.count > Self.mostKnown { known.removeAll(keepingCapacity: true) }
    for (key, id) in zip(wanted, try view.ids(of: keys.target, with: .values(wanted)))
    where id != nil { known.insert(key) }
    for (key, id) in open where !known.contains(key) {
      dangling.append(keys.dangling(key, inRow: id))
    }
    return dangling
  }
}

/// Says how far the check of a table is.
private struct CheckMeter {
  private let table: String
  private let total: Int
  private let onProgress: ((CheckProgress) -> Void)?
  private var rows = 0

  init(_ table: String, total: Int, _ onProgress: ((CheckProgress) -> Void)?) {
    self.table = table
    self.total = total
    self.onProgress = onProgress
  }

  mutating func count(_ count: Int) {
    rows += count
    if count > 0 {
      onProgress?(CheckProgress(table: table, rows: rows, total: max(rows, total)))
    }
  }
}
