// The table of one entity type, and its statements for single rows.
//
//   T (rowid bigint, never reused, PRIMARY KEY;
//      pk0, pk1, …: the primary key, UNIQUE together, see `KeyTexts`;
//      one nullable column for each field in an index, called by the field's storage name;
//      one nullable column for the words of a full-text index, see `WordsColumn`;
//      one nullable column for each index of elements, see `ElementsColumn`;
//      p bytea: the object's bytes)
//
// Text is bytea: any String fits, NUL included, and the order is that of the UTF-8 bytes. `ulong`
// is its bit pattern in a bigint. Each index of the schema is an index on its columns, in which
// unknown values come first, as in every order of results. Of a text it has the first bytes only,
// since an entry has no room for more; conditions and orders name both these bytes and the column.

import Dflat
import Platform

/// The statements of an entity type that do not depend on which columns exist.
final class EntityTable: Sendable {
  let schema: EntitySchema
  /// The table's name, as the marks have it.
  let name: String
  /// The name, quoted and with its schema.
  let quoted: String
  /// How the key's columns have long texts.
  let keyTexts: KeyTexts
  /// The columns of all indexes, each once.
  let columns: [IndexColumn]
  /// The column of the full-text index; nil if there is none.
  let words: WordsColumn?
  /// The columns of the indexes of elements.
  let elements: [ElementsColumn]
  /// The names of all these columns.
  let columnNames: [String]
  let selectRow: StatementText
  let selectRows: StatementText
  let selectFrom: StatementText
  let selectLast: StatementText
  /// Makes sure that new rows get greater ids than one that was chosen.
  let advance: StatementText
  /// Takes ids for new rows, in ascending order.
  let takeIDs: StatementText
  let selectKey: StatementText
  let selectID: StatementText
  /// Select the rows, or their ids, of the keys in arrays, each with the key's place from 1 up.
  let selectKeys: StatementText
  let selectIDs: StatementText
  let delete: StatementText
  let deleteAll: StatementText
  let updateBytes: StatementText
  /// The same, if the row has a key.
  let updateBytesIfKeyed: StatementText
  /// Whether the table was seen to exist.
  let isKnown = Atomic<Bool>(false)
  /// Whether it was seen to have all its indexes.
  let isIndexed = Atomic<Bool>(false)
  /// Whether this workspace has looked after its schema in `dflat_schemas`.
  let isKept = Atomic<Bool>(false)
  /// The greatest mean size of rows that were fetched together; 0 before the first ones.
  private let rowSize = Atomic<Int>(0)
  /// The statements that write rows, by the columns that the table had.
  private let writeTables = Mutex<[[String]: WriteTable]>([:])
  /// The statements that fill columns, by their text.
  private let fillStatements = Mutex<[String: StatementText]>([:])

  init(_ schema: EntitySchema, in system: SystemSQL) {
    self.schema = schema
    name = schema.table
    let quoted = "\(system.schema).\(schema.table.quotedName)"
    self.quoted = quoted
    keyTexts = KeyTexts(schema.primaryKey)
    var columns: [IndexColumn] = []
    var names: [String] = []
    for column in schema.indexes.flatMap(\.columns) where !names.contains(column.columnName) {
      columns.append(column)
      names.append(column.columnName)
    }
    self.columns = columns
    words = schema.fullText.map(WordsColumn.init)
    elements = schema.elementIndexes.map(ElementsColumn.init)
    columnNames = names + [words?.name].compactMap(\.self) + elements.map(\.name)
    selectRow = StatementText("SELECT rowid, p FROM \(quoted) WHERE rowid = $1")
    selectRows = StatementText(
      "SELECT rowid, p FROM \(quoted) WHERE rowid = ANY($1) ORDER BY rowid")
    selectFrom = StatementText(
      "SELECT rowid, p FROM \(quoted) WHERE rowid >= $1 ORDER BY rowid LIMIT $2")
    selectLast = StatementText("SELECT max(rowid) FROM \(quoted)")
    advance = StatementText(
      "SELECT setval(ids, $1::bigint) FROM (SELECT pg_get_serial_sequence(\(quoted.quotedText), "
        + "'rowid')::regclass AS ids OFFSET 0) AS found WHERE $1::bigint > nextval(ids)")
    takeIDs = StatementText(
      "SELECT array_agg(nextval(ids)) FROM (SELECT pg_get_serial_sequence(\(quoted.quotedText), "
        + "'rowid')::regclass AS ids OFFSET 0) AS found, generate_series(1, $1::bigint)")
    let conditions = schema.primaryKey.indices.map { "pk\($0) = $\($0 + 1)" }
      .joined(separator: " AND ")
    selectKey = StatementText("SELECT rowid, p FROM \(quoted) WHERE \(conditions)")
    selectID = StatementText("SELECT rowid FROM \(quoted) WHERE \(conditions)")
    let places = schema.primaryKey.indices
    let arrays = places.map { "$\($0 + 1)" }.joined(separator: ", ")
    let keys = places.map { "k\($0)" }.joined(separator: ", ")
    let matches = places.map { "pk\($0) = k\($0)" }.joined(separator: " AND ")
    // With its limit, the inner query is answered by the key's index, key by key.
    func selectAll(_ columns: String) -> StatementText {
      StatementText(
        "SELECT place, found.* FROM unnest(\(arrays)) WITH ORDINALITY AS keys (\(keys), place), "
          + "LATERAL (SELECT \(columns) FROM \(quoted) WHERE \(matches) LIMIT 1) AS found")
    }
    selectKeys = selectAll("rowid, p")
    selectIDs = selectAll("rowid")
    delete = StatementText("DELETE FROM \(quoted) WHERE rowid = $1")
    deleteAll = StatementText("DELETE FROM \(quoted) WHERE rowid = ANY($1)")
    let update = "UPDATE \(quoted) SET p = $2 WHERE rowid = $1"
    updateBytes = StatementText(update)
    updateBytesIfKeyed = StatementText(
      update + schema.primaryKey.indices.map { " AND pk\($0) = $\($0 + 3)" }.joined())
  }

  /// How many rows are fetched before anything is known of their size.
  var firstPortion: Int {
    let size = rowSize.load(ordering: .relaxed)
    return size == 0 ? 16 : Connection.Portions.most(ofSize: size)
  }

  /// Notes the size of rows that were fetched.
  func noteSize(of rows: borrowing Rows) {
    if rows.count == 0 { return }
    let size = rows.meanSize
    if size > rowSize.load(ordering: .relaxed) { rowSize.store(size, ordering: .relaxed) }
  }

  /// The statements that write rows of the table with certain columns.
  func writeTable(with existing: [String: IndexMarks.Mark]) -> WriteTable {
    let names = existing.keys.filter { !$0.isEmpty }.sorted()
    return writeTables.withLock { known in
      if let table = known[names] { return table }
      let table = WriteTable(self, names)
      known[names] = table
      return table
    }
  }

  /// A statement that fills columns: the same one for each step.
  func fillStatement(_ text: String) -> StatementText {
    fillStatements.withLock { known in
      if let statement = known[text] { return statement }
      let statement = StatementText(text)
      known[text] = statement
      return statement
    }
  }

  /// Selects the objects that have the values of an index, at most two.
  func selectOwners(by index: IndexDescriptor) -> String {
    let conditions = index.columns.enumerated().map { place, column in
      let test = "\(column.columnName.quotedName) = $\(place + 1)"
      return column.field.type == .string
        ? "\(column.indexedSQL()) = \("$\(place + 1)".indexedText()) AND \(test)" : test
    }
    return "SELECT rowid FROM \(quoted) WHERE \(conditions.joined(separator: " AND ")) LIMIT 2"
  }

  /// The statements that create the table with its indexes.
  func create(_ system: SystemSQL) -> [String] {
    let keys = schema.primaryKey.enumerated().map { "pk\($0) \($1.type.columnType) NOT NULL" }
    let fields = columnNames.map { "\($0.quotedName) \(columnType($0))" }
    let unique = schema.primaryKey.indices.map { "pk\($0)" }.joined(separator: ", ")
    let parts =
      ["rowid bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"] + keys + fields
      + ["p bytea NOT NULL", "UNIQUE (\(unique))"]
    var statements = ["CREATE TABLE \(quoted) (\(parts.joined(separator: ", ")))"]
    statements += indexes.map { create($0) }
    statements.append(fillOnce)
    statements += ([""] + columnNames).map {
      system.insertMark(table: name, column: $0, complete: true)
    }
    return statements + comments(on: columnNames)
  }

  /// The statements that add columns to the table.
  func add(_ names: [String], _ system: SystemSQL) -> [String] {
    var statements: [String] = []
    for name in columnNames where names.contains(name) {
      statements.append(
        "ALTER TABLE \(quoted) ADD COLUMN IF NOT EXISTS \(name.quotedName) \(columnType(name))")
      statements.append(system.insertMark(table: self.name, column: name, complete: false))
    }
    return statements + comments(on: names)
  }

  /// Selects the names of the table's indexes, without those whose creation was interrupted.
  var selectIndexes: String {
    "SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
      + "WHERE indrelid = to_regclass(\(quoted.quotedText)) AND indisvalid"
  }

  /// Selects whether an index of the table is created in no time.
  var selectIsSmall: String { "SELECT NOT EXISTS (SELECT 1 FROM \(quoted) OFFSET 1000)" }

  /// The server's indexes for those of the schema.
  var indexes: [TableIndex] {
    let ordered = schema.indexes.map { index in
      let names = index.columns.map(\.columnName).joined(separator: ", ")
      let columns = Array(zip(index.columns, index.columns.indexedBytes))
      // An index has no more columns than these.
      let last = columns.count < 32 ? ["rowid"] : []
      let parts = columns.map { "\($0.indexedSQL($1)) NULLS FIRST" } + last
      return TableIndex(
        name: "\(name) \(names)", definition: "(\(parts.joined(separator: ", ")))",
        isInverted: false, columnNames: index.columns.map(\.columnName),
        columns: columns.map { $0.storedSQL($1) } + last)
    }
    // With a list of pending entries, a search would conflict with every insertion.
    let inverted = ([words?.name].compactMap(\.self) + elements.map(\.name)).map { column in
      TableIndex(
        name: "\(name) \(column)",
        definition: "USING gin (\(column.quotedName)) WITH (fastupdate = off)", isInverted: true,
        columnNames: [column], columns: [column.nameAsStored])
    }
    return ordered + inverted
  }

  /// The statement that creates an index.
  /// - Parameter concurrently: Whether others can write meanwhile.
  func create(_ index: TableIndex, concurrently: Bool = false) -> String {
    "CREATE INDEX \(concurrently ? "CONCURRENTLY " : "")IF NOT EXISTS \(index.name.quotedName) "
      + "ON \(quoted) \(index.definition)"
  }

  /// Inserts a row and rolls that back, so that no index is without a page of entries.
  ///
  /// A transaction that reads a whole index without such a page, while another one is inserting the
  /// first row, may miss that they are in conflict: PostgreSQL 15 then looks for entries before it
  /// locks the index, and not once more.
  var fillOnce: String {
    let keys = schema.primaryKey.indices.map { "pk\($0)" }
    let values = keys.map { _ in "'0'" }.joined(separator: ", ")
    return """
      SAVEPOINT filled; INSERT INTO \(quoted) (rowid, \(keys.joined(separator: ", ")), p) \
      VALUES (\(Int64.min), \(values), '') ON CONFLICT DO NOTHING; \
      ROLLBACK TO filled; RELEASE filled
      """
  }

  /// The type of a column with a name.
  private func columnType(_ name: String) -> String {
    zip(columnNames, columns).first { $0.0 == name }?.1.field.type.columnType
      ?? elements.first { $0.name == name }?.columnType ?? "tsvector"
  }

  /// The names of the columns of an index, by its position in the schema.
  func columnNames(ofIndexAt place: Int) -> [String] {
    if place < schema.indexes.count { return schema.indexes[place].columns.map(\.columnName) }
    if place == schema.fullTextPosition { return [words?.name].compactMap(\.self) }
    return [elements[place - schema.elementPosition(0)].name]
  }

  /// Tells readers of the table which fields of the schema the columns have.
  private func comments(on names: [String]) -> [String] {
    var fields = schema.primaryKey.enumerated().map { ("pk\($0)", schema.name(of: $1)) }
    for (name, column) in zip(columnNames, columns) where names.contains(name) {
      let suffix = column.isFolded ? " nocase" : ""
      fields.append((name, schema.name(of: column.reader.field) + suffix))
    }
    if let words, names.contains(words.name) {
      let searched = words.index.columns.map { schema.name(of: $0.field) }
      fields.append((words.name, "words of \(searched.joined(separator: ", "))"))
    }
    for column in elements where names.contains(column.name) {
      let name = schema.layout.property(at: column.index.offset)?.name ?? column.name
      fields.append((column.name, "elements of \(name)"))
    }
    return fields.map { column, field in
      "COMMENT ON COLUMN \(quoted).\(column.quotedName) IS \(field.quotedText)"
    }
  }
}

/// An index of the server.
struct TableIndex {
  let name: String
  /// Its columns, or how it is made of them.
  let definition: String
  /// Whether it has the parts of values.
  let isInverted: Bool
  /// The columns of the table that it is made of.
  let columnNames: [String]
  /// Its columns, as the server writes them.
  let columns: [String]
}

/// The statements that write rows of a table with certain columns.
final class WriteTable: Sendable {
  unowned let table: EntityTable
  /// The columns that this program writes, those of other versions of the schema included.
  let columns: [IndexColumn]
  /// The column of the full-text index, if the table has it.
  let words: WordsColumn?
  /// The columns of the indexes of elements that the table has.
  let elements: [ElementsColumn]
  let insert: StatementText
  /// The same with an id that the caller chooses, as the last parameter.
  let insertWithID: StatementText
  /// The same for many rows. If one cannot be inserted, `uncopy` goes back to before.
  let copy: String
  static let uncopy = "ROLLBACK TO copied; RELEASE copied"
  let update: StatementText
  /// The columns that it cannot write, though they are marked as right.
  let uncovered: [String]
  /// The number of values that it writes of an object, beside its bytes.
  let valueCount: Int
  /// The fields that the key and the columns use.
  let indexedFields: FieldSet
  /// The fields of `uncovered`.
  let uncoveredFields: FieldSet

  /// - Parameter existing: The columns that the table has.
  fileprivate init(_ table: EntityTable, _ existing: [String]) {
    self.table = table
    let schema = table.schema
    var columns: [IndexColumn] = []
    var uncovered: [String] = []
    words = table.words.flatMap { existing.contains($0.name) ? $0 : nil }
    let elements = table.elements.filter { existing.contains($0.name) }
    self.elements = elements
    for name in existing
    where name != words?.name && !elements.contains(where: { $0.name == name }) {
      if let column = schema.column(named: fieldName(ofColumn: name)), column.columnName == name {
        columns.append(column)
      } else {
        uncovered.append(name)
      }
    }
    self.columns = columns
    self.uncovered = uncovered
    let keys = schema.primaryKey.indices.map { "pk\($0)" }
    let derived = [words?.name].compactMap(\.self) + elements.map(\.name)
    let names = keys + (columns.map(\.columnName) + derived).map(\.quotedName)
    valueCount = names.count
    let marks = names.indices.map { "$\($0 + 2)" }
    insert = StatementText(
      "INSERT INTO \(table.quoted) (p, \(names.joined(separator: ", "))) "
        + "VALUES ($1, \(marks.joined(separator: ", "))) ON CONFLICT DO NOTHING RETURNING rowid")
    insertWithID = StatementText(
      "INSERT INTO \(table.quoted) (p, \(names.joined(separator: ", ")), rowid) "
        + "VALUES ($1, \(marks.joined(separator: ", ")), $\(names.count + 2)) "
        + "ON CONFLICT DO NOTHING RETURNING rowid")
    copy =
      "SAVEPOINT copied; COPY \(table.quoted) (p, \(names.joined(separator: ", ")), rowid) "
      + "FROM STDIN (FORMAT binary); RELEASE copied"
    let sets = zip(names, names.indices).map { "\($0) = $\($1 + 3)" }.joined(separator: ", ")
    update = StatementText("UPDATE \(table.quoted) SET p = $2, \(sets) WHERE rowid = $1")
    var fields = FieldSet.none
    for reader in schema.keyReaders { fields.insert(reader.field.rootField) }
    for column in columns + (words?.index.columns ?? []) {
      fields.insert(column.reader.field.rootField)
    }
    for column in elements { fields.insert(column.index.offset) }
    var others = FieldSet.none
    for name in uncovered {
      if WordsColumn.isName(name) {
        others = .all
        continue
      }
      // The path begins with the root field: `f10`, `f20__u1__f4`.
      others.insert(Int(name.dropFirst().prefix { "0"..."9" ~= $0 }) ?? .max)
    }
    fields.formUnion(others)
    indexedFields = fields
    uncoveredFields = others
  }
}
