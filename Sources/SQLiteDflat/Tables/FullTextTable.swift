// The full-text table of an entity type: its columns, its statements, and what it is kept from.
//
//   T__fulltext__porter__x__X__x__Y   an FTS5 table with the columns X, Y, and without content
//
//  - The name lists the columns and their tokenizers (`EntitySchema.fullTextIndex(named:)`), so
//    every version of a schema recognises it, and no program takes it for a side table. Other
//    columns or tokenizers make another table.
//  - FTS5 divides texts into words itself if all columns have the same one of its tokenizers
//    `unicode61` and `porter`. Otherwise the table is given tokens (`SearchTokenizer`) with blanks
//    between them, and the tokenizer `ascii` divides them there. A table that was created in
//    another way is not used, and is replaced when it is filled.
//  - A token of `trigram` is a character with the two behind it, so one character is found as the
//    beginning of tokens. FTS5 keeps lists of these (`prefix`), since it would merge those of
//    thousands of tokens otherwise.
//  - FTS5 keeps the words only; the texts are in the objects (`content = ''`). To remove a row from
//    such a table, FTS5 must be told the texts that it was added with. They are read from the
//    object before it is changed. So a row can only be removed as long as the table is known to
//    agree with the objects. If another program has changed an object behind the table, the table
//    is replaced and filled again.
//  - How far it agrees is marked in the file, as for side tables; see `IndexMarks`. A row that is
//    not marked is not in the table, unless nothing is marked: then the table may have any content.
//  - FTS5 tables have no triggers. The guards are on `…_docsize`, in which FTS5 itself keeps one
//    row for each row of the table. SQLite 3.40 crashes with triggers on `…_data`, in which FTS5
//    keeps the words: what is damaged there is noticed as far as FTS5 notices it.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// A full-text table and how its texts are read from a row.
struct FullTextTable: MarkedTable {
  let table: String
  /// The type of its objects.
  let schema: EntitySchema
  /// How the texts of each column are divided into words.
  let tokenizers: [SearchTokenizer]
  /// Whether it is given tokens, and not texts.
  let isGivenTokens: Bool
  /// The table in which FTS5 keeps the size of each row; see `IndexGuard`.
  let rowTable: String
  /// The names of the columns.
  let columns: [String]
  /// The columns with their readers; nil if this version of the schema lacks a field.
  let readers: [IndexColumn]?
  let absentText: String?
  /// The fields of the root table that contain the texts.
  let rootFields: FieldSet
  let create: String
  let insert: String
  /// Removes a row, given the texts that it was added with.
  let remove: String
  /// Removes all rows, also those that FTS5 has not written yet.
  let empty: String
  let extentAndMark: String
  let extent: String
  /// Triggers that notice changes by other programs to this table or the main table.
  let guards: IndexGuards
  let ownGuards: [IndexGuard]

  /// The table of its objects.
  var main: String { schema.table }

  init(_ index: FullTextIndex, of schema: EntitySchema, _ guards: [IndexGuard]) {
    self.init(
      schema, index.table, index.columns.map(\.name), index.tokenizers, index.columns,
      guards)
  }

  /// A table that this schema does not name, created by another version of it; nil if no version
  /// has given this name.
  init?(foreign table: String, of schema: EntitySchema) {
    guard
      let (tokenizers, columns) = EntitySchema.fullTextIndex(
        named: String(table.dropFirst(schema.table.count + 2)))
    else { return nil }
    let readers = columns.compactMap { schema.column(named: $0) }
    let areKnown = readers.count == columns.count && readers.allSatisfy { $0.field.type == .string }
    self.init(schema, table, columns, tokenizers, areKnown ? readers : nil, [])
  }

  private init(
    _ schema: EntitySchema, _ table: String, _ columns: [String], _ tokenizers: [SearchTokenizer],
    _ readers: [IndexColumn]?, _ mainGuards: [IndexGuard]
  ) {
    self.schema = schema
    let main = schema.table
    self.table = table
    self.tokenizers = tokenizers
    let common = FullTextIndex.commonTokenizer(tokenizers)
    isGivenTokens = common == nil
    rowTable = table + "_docsize"
    self.columns = columns
    self.readers = readers
    absentText = SideTable.absentText(readers ?? [])
    var fields = FieldSet.none
    for reader in readers ?? [] { fields.insert(reader.reader.field.rootField) }
    rootFields = fields
    let quoted = table.quoted
    let list = columns.map(\.quoted).joined(separator: ", ")
    let words = common == .porter ? "porter unicode61" : common?.rawValue ?? "ascii"
    let prefix = tokenizers.contains(.trigram) ? ", prefix='1'" : ""
    let definition = "\(quoted) USING fts5(\(list), content='', tokenize='\(words)'\(prefix))"
    create = "CREATE VIRTUAL TABLE IF NOT EXISTS \(definition)"
    let marks = columns.map { _ in ", ?" }.joined()
    insert = "INSERT INTO \(quoted) (rowid, \(list)) VALUES (?\(marks))"
    remove = "INSERT INTO \(quoted) (\(quoted), rowid, \(list)) VALUES ('delete', ?\(marks))"
    empty = "INSERT INTO \(quoted) (\(quoted)) VALUES ('delete-all')"
    let extents =
      "SELECT (SELECT max(rowid) FROM \(main.quoted)), (SELECT max(id) FROM \(rowTable.quoted)), "
    let shape = ", (SELECT \(columns[0].quoted) FROM \(quoted) LIMIT 0)"
    extent = extents + "NULL" + shape
    extentAndMark = extents + Self.mark(of: table, main, absentText) + shape
    ownGuards = IndexGuard.guards(
      whole: table, rows: rowTable, prefix: IndexGuard.fullTextPrefix)
    guards = IndexGuards(
      main: mainGuards, side: ownGuards,
      definition: "CREATE VIRTUAL TABLE \(definition)")
  }

  /// The tables in which FTS5 keeps the index.
  var shadowTables: [String] {
    ["data", "idx", "content", "docsize", "config"].map { "\(table)_\($0)" }
  }
}

extension SearchTokenizer {
  /// Writes the tokens of a text, a blank behind each.
  func writeTokens(of text: UnsafeRawBufferPointer, to tokens: inout [UInt8]) {
    tokens.removeAll(keepingCapacity: true)
    forEachWord(in: text) { token, _ in
      tokens.append(contentsOf: token)
      tokens.append(0x20)
    }
  }
}
