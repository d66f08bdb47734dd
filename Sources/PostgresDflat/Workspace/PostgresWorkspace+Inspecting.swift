// What tools see of a database beside its objects. Nothing is created, and transactions only read.

package import Dflat
import Platform

/// The types of a database as its own tables and kept schemas describe them.
package struct ServerTables: Sendable {
  /// The table of a type.
  package struct Main: Sendable {
    package let name: String
    /// The columns of the key.
    package let keys: [String]
  }

  /// A schema that the database keeps.
  package struct Kept: Sendable {
    package let table: String
    package let digest: String
    package let version: String
    package let date: String
    package let bytes: [UInt8]
  }

  /// The tables of types, in the order of their names.
  package fileprivate(set) var mains: [Main] = []
  /// The schemas, the newest first.
  package fileprivate(set) var schemas: [Kept] = []
  /// Why the schemas cannot be read.
  package fileprivate(set) var schemasProblem: String?
}

/// How much a database has of a type.
package struct ServerTableUse: Sendable {
  /// The number of objects.
  package let rows: Int
  /// Whether they were counted; otherwise the server estimates them.
  package let isCounted: Bool
  /// The bytes of the table with its indexes.
  package let bytes: Int
  /// The columns of indexes, and whether each is right for every object.
  package let columns: [String: Bool]
}

/// What is known of a connection string before it is used.
package struct ServerAddress: Sendable {
  /// What must not be shown.
  fileprivate let secrets: [String]

  /// - Returns: nil if the client library cannot read it.
  package init?(_ url: String) {
    guard let settings = Connector.settings(ifReadable: url),
      (settings["port"] ?? "").utf8.allSatisfy({ "0,123456789".utf8.contains($0) })
    else { return nil }
    secrets = ["password", "sslpassword"].compactMap { settings[$0] }.filter { !$0.isEmpty }
  }

  /// A text without what is secret.
  package func withoutSecrets(_ text: String) -> String {
    secrets.reduce(text) { text, secret in
      var (rest, parts) = (text[...], [Substring]())
      while let place = rest.firstRange(of: secret) {
        parts.append(rest[..<place.lowerBound])
        rest = rest[place.upperBound...]
      }
      return (parts + [rest]).joined(separator: "***")
    }
  }
}

extension PostgresWorkspace {
  /// Whether the PostgreSQL schema of the tables exists.
  package func hasSchema() throws -> Bool {
    let name = engine.configuration.schema.quotedText
    return try inspect { ask in
      try !ask("SELECT 1 FROM pg_namespace WHERE nspname = \(name)").isEmpty
    }
  }

  /// Differs after the tables or the schemas have changed.
  package func tablesVersion() throws -> [String?] {
    let system = engine.system
    return try inspect { ask in
      try exists(system.columns, ask)
        ? [
          ask("SELECT count(DISTINCT tbl) FROM \(system.columns)")[0][0],
          mayRead(system.kept.table, ask)
            ? ask("SELECT count(*) || ' ' || max(date) FROM \(system.kept.table)")[0][0] : nil,
        ] : []
    }
  }

  /// The tables of types and the schemas that the database keeps.
  package func storedTables() throws -> ServerTables {
    let system = engine.system
    return try inspect { ask in
      var tables = ServerTables()
      guard try exists(system.columns, ask) else { return tables }
      for name in try ask("SELECT DISTINCT tbl FROM \(system.columns) ORDER BY tbl") {
        let name = name[0] ?? ""
        let quoted = "\(system.schema).\(name.quotedName)"
        let keys = try ask(
          "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(\(quoted.quotedText)) "
            + "AND attname ~ '^pk[0-9]+$' AND NOT attisdropped ORDER BY attnum")
        tables.mains.append(.init(name: name, keys: keys.compactMap { $0[0] }))
      }
      guard try mayRead(system.kept.table, ask) else {
        if try exists(system.kept.table, ask) {
          tables.schemasProblem =
            "the role may not read \(system.kept.table), which has the schemas"
        }
        return tables
      }
      tables.schemas = try ask(
        "SELECT \"table\", digest, version, date, encode(schema, 'hex') FROM "
          // Of those of one second, the one that says most.
          + "\(system.kept.table) ORDER BY date DESC, octet_length(schema) DESC"
      ).map { row in
        ServerTables.Kept(
          table: row[0] ?? "", digest: row[1] ?? "", version: row[2] ?? "", date: row[3] ?? "",
          bytes: (row[4] ?? "").bytesOfHexadecimal)
      }
      return tables
    }
  }

  /// How much the database has of a type.
  /// - Parameter counting: Counts the rows if there may be no more; nil to count them in any case.
  package func use(ofTable name: String, counting limit: Int?) throws -> ServerTableUse {
    let system = engine.system
    let quoted = "\(system.schema).\(name.quotedName)"
    return try inspect { ask in
      let estimate = try ask(
        "SELECT greatest(reltuples, 0)::bigint, pg_total_relation_size(oid) FROM pg_class "
          + "WHERE oid = to_regclass(\(quoted.quotedText))")
      let bytes = estimate.first?[1].flatMap { Int($0) } ?? 0
      var rows = estimate.first?[0].flatMap { Int($0) } ?? 0
      let counts = limit.map { bytes <= $0 } ?? true
      if counts { rows = Int(try ask("SELECT count(*) FROM \(quoted)")[0][0] ?? "") ?? 0 }
      let marks = try ask(
        "SELECT col, complete::text FROM \(system.columns) WHERE tbl = \(name.quotedText)")
      return ServerTableUse(
        rows: rows, isCounted: counts, bytes: bytes,
        columns: Dictionary(marks.map { ($0[0] ?? "", $0[1] == "true") }) { first, _ in first })
    }
  }

  /// For each index of a type, the columns that it has.
  package func indexColumns(of schema: EntitySchema) -> [[String]] {
    let table = engine.table(of: schema)
    return schema.indexes.indices.map { table.columnNames(ofIndexAt: $0) }
  }

  /// The version of the server, and the size of the database in bytes.
  package func serverFacts() throws -> (version: String, bytes: Int) {
    try inspect { ask in
      let facts = try ask(
        "SELECT current_setting('server_version'), pg_database_size(current_database())")[0]
      return (facts[0] ?? "", facts[1].flatMap { Int($0) } ?? 0)
    }
  }

  /// How much each table and index of the PostgreSQL schema takes, the greatest first.
  package func relationSizes() throws -> [(name: String, table: String?, bytes: Int)] {
    let name = engine.configuration.schema.quotedText
    return try inspect { ask in
      try ask(
        "SELECT c.relname, o.relname, pg_table_size(c.oid) FROM pg_class AS c "
          + "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
          + "LEFT JOIN pg_index AS i ON i.indexrelid = c.oid "
          + "LEFT JOIN pg_class AS o ON o.oid = i.indrelid "
          + "WHERE n.nspname = \(name) AND c.relkind IN ('r', 'i', 'm') "
          + "ORDER BY 3 DESC, 1"
      ).map { ($0[0] ?? "", $0[1], $0[2].flatMap { Int($0) } ?? 0) }
    }
  }

  /// Rows of a table whose schema is not known: the row id, the columns of the key as text, and the
  /// bytes.
  package func plainRows(
    ofTable name: String, keyColumns: [String], key: [String]?, after id: Int64?, limit: Int
  ) throws -> [(id: Int64, keys: [String], bytes: [UInt8])] {
    let quoted = "\(engine.system.schema).\(name.quotedName)"
    return try inspect { ask in
      let types = try ask(
        "SELECT attname, atttypid = 'bytea'::regtype FROM pg_attribute "
          + "WHERE attrelid = to_regclass(\(quoted.quotedText))"
      ).reduce(into: [String: Bool]()) { $0[$1[0] ?? ""] = $1[1] == "t" }
      let columns = keyColumns.map { column in
        // Text that is not UTF-8 is shown as it is escaped.
        types[column] == true
          ? "encode(\(column.quotedName), 'hex')" : "\(column.quotedName)::text"
      }
      var conditions = [id.map { "rowid > \($0)" } ?? "true"]
      for (column, value) in zip(keyColumns, key ?? []) {
        let isText = types[column] == true
        conditions.append(
          isText
            ? "\(column.quotedName) = decode('\(value.hexadecimal)', 'hex')"
            : "\(column.quotedName)::text = \(value.quotedText)")
      }
      let list = (["rowid"] + columns + ["encode(p, 'hex')"]).joined(separator: ", ")
      return try ask(
        "SELECT \(list) FROM \(quoted) WHERE \(conditions.joined(separator: " AND ")) "
          + "ORDER BY rowid LIMIT \(limit)"
      ).map { row in
        let keys = zip(keyColumns, row.dropFirst()).map { column, value in
          let value = value ?? ""
          return types[column] == true
            ? String(decoding: value.bytesOfHexadecimal, as: UTF8.self) : value
        }
        return (
          row[0].flatMap { Int64($0) } ?? -1, keys,
          (row.last.flatMap(\.self) ?? "").bytesOfHexadecimal
        )
      }
    }
  }

  private func exists(_ table: String, _ ask: Answers) throws -> Bool {
    try ask("SELECT to_regclass(\(table.quotedText)) IS NOT NULL")[0][0] == "t"
  }

  private func mayRead(_ table: String, _ ask: Answers) throws -> Bool {
    try ask(
      "SELECT has_table_privilege(to_regclass(\(table.quotedText))::oid, 'SELECT')")[0][0] == "t"
  }

  /// Answers a statement with rows of texts.
  private typealias Answers = (String) throws -> [[String?]]

  /// Calls `body` in a transaction that only reads, in one state.
  private func inspect<R>(_ body: (Answers) throws -> R) throws -> R {
    try engine.onView(for: .observation) { view in
      let connection = view.connection
      return try withStorageErrors {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        do {
          let result = try body { sql in
            let rows = try connection.execute(sql)
            let columns = rows.columnCount
            return (0..<rows.count).map { row in
              (0..<columns).map { rows.isNull(row, $0) ? nil : rows.text(row, $0) }
            }
          }
          try connection.commit()
          return result
        } catch {
          // The first error is reported.
          try? connection.rollback()
          throw error
        }
      }
    }
  }
}

extension String {
  /// The bytes that pairs of hexadecimal digits stand for.
  fileprivate var bytesOfHexadecimal: [UInt8] {
    func digit(_ byte: UInt8) -> UInt8 { byte < 0x3A ? byte - 0x30 : (byte | 0x20) - 0x57 }
    let digits = Array(utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      digit(digits[$0]) << 4 | digit(digits[$0 + 1])
    }
  }

  /// The bytes of the text in hexadecimal digits.
  fileprivate var hexadecimal: String { utf8.hexadecimal }
}

extension Sequence<UInt8> {
  /// The bytes in hexadecimal digits.
  var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
