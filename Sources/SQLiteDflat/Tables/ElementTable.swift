// The table of an index of elements: its name, its statements, and how its rows follow from
// objects.
//
//   tasks__tags (owner INTEGER, element <type>, PRIMARY KEY (owner, element),
//     UNIQUE (element, owner)) WITHOUT ROWID
//
//  - A row says that the object with the row id `owner` has `element` in the vector. An object has
//    each of its elements once, and no row if it has none: so the table itself does not tell how
//    far it reaches. The mark does; see `IndexMarks`. The mark also names the vector and the main
//    table, so versions of a type can have the same table in turn: each fills it anew.
//  - Rows of objects beyond the mark mean nothing.
//  - Its second index has no name of its own, so none can be in its way, and none can drop it.
//  - SQLite does not tell what a trigger changes in a table without row ids. So the table is not
//    used while a trigger of another program names it.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// The table of an index of elements.
struct ElementTable: MarkedTable {
  let index: ElementIndex
  /// The type of the objects.
  let schema: EntitySchema
  /// The statement that creates it, in the form that SQLite stores.
  let create: String
  /// Adds an element, unless the object has it already.
  let insert: String
  /// Removes an element of an object.
  let deleteOne: String
  /// Removes the elements of an object.
  let delete: String
  let extentAndMark: String
  let extent: String
  /// Triggers that notice changes by other programs to this table or the main table.
  let guards: IndexGuards
  let ownGuards: [IndexGuard]

  var table: String { index.table }
  /// The table of the objects.
  var main: String { schema.table }
  var absentText: String? { Self.markPrefix + "f\(index.offset)" }
  static let columns = ["owner", "element"]

  private static func definition(_ type: String) -> String {
    "(owner INTEGER, element \(type), "
      + "PRIMARY KEY (owner, element), UNIQUE (element, owner)) WITHOUT ROWID"
  }

  /// Whether a table that was created by a statement is one of these, whatever its name.
  static func isDefined(by sql: String?) -> Bool {
    ["TEXT", "INTEGER", "REAL"].contains { sql?.hasSuffix(" " + definition($0)) == true }
  }

  /// How the marks of such tables begin that say what the rows depend on.
  static let markPrefix = "elements "

  init(_ index: ElementIndex, of schema: EntitySchema, _ mainGuards: [IndexGuard]) {
    self.index = index
    self.schema = schema
    let main = schema.table
    let quoted = index.table.quoted
    create = "CREATE TABLE \(quoted) \(Self.definition(index.type.columnType))"
    insert = "INSERT OR IGNORE INTO \(quoted) (owner, element) VALUES (?, ?)"
    deleteOne = "DELETE FROM \(quoted) WHERE owner = ? AND element = ?"
    delete = "DELETE FROM \(quoted) WHERE owner = ?"
    let extents =
      "SELECT (SELECT max(rowid) FROM \(main.quoted)), (SELECT max(owner) FROM \(quoted)), "
    let shape = ", (SELECT element FROM \(quoted) LIMIT 0)"
    extent = extents + "NULL" + shape
    extentAndMark =
      extents + Self.mark(of: index.table, main, Self.markPrefix + "f\(index.offset)") + shape
    ownGuards = IndexGuard.guards(
      whole: index.table, rows: index.table, prefix: IndexGuard.elementPrefix)
    guards = IndexGuards(main: mainGuards, side: ownGuards, definition: create)
  }
}
