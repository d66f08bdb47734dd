// StoredTables: what the tables of a file tell of its types, without any schema of the program.

import Dflat
import Platform
package import SQLiteAccess

/// The tables of a file that have objects, and the schemas that the file keeps.
package struct StoredTables {
  /// A schema that the file keeps.
  package struct Kept: Sendable {
    package var digest: String
    package var version: String
    package var date: String
    package var bytes: [UInt8]

    package init(digest: String, version: String, date: String, bytes: [UInt8]) {
      self.digest = digest
      self.version = version
      self.date = date
      self.bytes = bytes
    }

    /// Whether it is as it was written.
    package var isWhole: Bool { SHA256.hexadecimal(bytes) == digest }
  }

  /// The names of the main tables with their key columns, in the order of the names.
  package private(set) var mains: [(table: String, keys: [String])] = []
  /// The schemas by table, the newest first.
  package private(set) var schemas: [String: [Kept]] = [:]
  /// Why the schemas that are kept cannot be read.
  package var schemasProblem: String?
  /// All other tables but those of indexes.
  package private(set) var others: [String] = []

  package init() {}

  /// Adds a main table that the file lacks.
  package mutating func add(main table: String, keys: [String] = []) {
    mains.append((table, keys))
  }

  /// Adds a schema that is kept, behind the newer ones of its table.
  package mutating func add(_ kept: Kept, of table: String) {
    schemas[table, default: []].append(kept)
  }

  /// Reads them from a file.
  /// - Throws: `SQLiteError`.
  package init(_ connection: Connection) throws {
    let names = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    ).compactMap { $0[0].text }
    var plain: [(table: String, columns: [String])] = []
    for name in names {
      let columns = try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(name)])
        .compactMap { $0[0].text }
      let keys = columns.dropFirst().prefix { $0 != "p" }
      // Others may have added columns. Programs name those that they use.
      let isMain =
        columns.first == "rowid" && columns.contains("p") && !keys.isEmpty
        && keys.enumerated().allSatisfy { $1 == "__pk\($0)" }
      if isMain {
        mains.append((name, Array(keys)))
      } else {
        plain.append((name, columns))
      }
    }
    let mains = mains.map(\.table)
    others = plain.filter { name, columns in
      !name.hasPrefix("sqlite_") && !Self.ofLibrary.contains(name) && name != StoredSchemas.table
        && !Self.isOfIndex(name, columns, of: mains)
    }.map(\.table)
    guard names.contains(StoredSchemas.table) else { return }
    let rows: [[SQLValue]]
    do throws(SQLiteError) {
      rows = try connection.rows(
        "SELECT \"table\", digest, version, date, schema FROM \(StoredSchemas.table) "
          + "ORDER BY date DESC, rowid DESC")
    } catch {
      // Something else has the name, or the table is damaged, which `check` finds: the other tables
      // are shown without names.
      guard error.code == .error || error.isCorrupt else { throw error }
      return
    }
    for row in rows {
      guard let table = row[0].text, let bytes = row[4].blob else { continue }
      schemas[table, default: []].append(
        Kept(
          digest: row[1].text ?? "", version: row[2].text ?? "", date: row[3].text ?? "",
          bytes: bytes))
    }
  }

  /// The tables with what the library notes for itself.
  package static let ofLibrary: Set = [IndexMarks.table, MaintenanceLog.table]

  /// Whether a trigger is one that watches over an index.
  package static func isGuard(_ name: String, _ sql: String) -> Bool {
    [IndexGuard.prefix, IndexGuard.fullTextPrefix, IndexGuard.elementPrefix]
      .contains(where: name.hasPrefix) || sql.contains("UPDATE \(IndexMarks.table) SET verified")
  }

  /// Whether a table belongs to an index of a main table, by its name and its columns, since
  /// programs may call tables of their own `T__name`. A table of elements has the name of its field
  /// and that of the type without its version: `tasks__tags` beside `tasks_v2`.
  /// - Parameters:
  ///   - columns: nil if they are not known.
  ///   - damage: How many of their names may be damaged.
  package static func isOfIndex(
    _ name: String, _ columns: [String]?, of mains: [String], damage: Int = 0
  ) -> Bool {
    mains.contains { main in
      if columns == ElementTable.columns {
        return name.hasPrefix(main.replacing(/_v\d+$/, with: "") + "__")
      }
      guard name.hasPrefix(main + "__") else { return false }
      let index = String(name.dropFirst(main.count + 2))
      if index.prefixMatch(of: /fulltext__\w+__x__f\d/) != nil { return true }
      let indexed = EntitySchema.columnNames(ofIndex: index)
      guard let columns, !indexed.isEmpty else { return !indexed.isEmpty }
      let expected = ["rowid"] + indexed
      return columns.count == expected.count
        && zip(columns, expected).count { $0 != $1 } <= damage
    }
  }
}
