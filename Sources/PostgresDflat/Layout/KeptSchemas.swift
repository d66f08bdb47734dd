// dflat_schemas: the schemas that rows were written with, for people and tools.
//
//   dflat_schemas ("table" text, digest text, version text, date text, schema bytea,
//                  PRIMARY KEY ("table", digest))
//
//  - There is one row for each table and shape, as in files of SQLiteDflat: `schema` is what
//    `flatc --schema --binary` writes, `digest` its SHA-256, `version` that of the library that
//    wrote it, `date` the time in UTC.
//  - It is written after the first commit of a workspace that has written the type, by a statement
//    of its own, and by `prepare`. A role that may not write it leaves it as it is.
//  - Queries never read it, and nothing depends on it. A program may delete it.

import Dflat
import Platform

/// The table with the schemas, and its statements.
struct KeptSchemas: Sendable {
  let table: String
  private let find: String
  private let insert: String

  /// - Parameter schema: The quoted PostgreSQL schema of all tables.
  init(schema: String) {
    table = "\(schema).dflat_schemas"
    find =
      "SELECT 1 FROM \(table) WHERE \"table\" = convert_from($1, 'UTF8') "
      + "AND digest = convert_from($2, 'UTF8')"
    insert =
      "INSERT INTO \(table) (\"table\", digest, version, date, schema) "
      + "VALUES (convert_from($1, 'UTF8'), convert_from($2, 'UTF8'), convert_from($3, 'UTF8'), "
      + "\(Self.now), $4) "
      + "ON CONFLICT DO NOTHING"
    self.schema = schema
  }

  private let schema: String

  /// Creates the table.
  var create: String {
    """
    CREATE TABLE IF NOT EXISTS \(table) ("table" text NOT NULL, digest text NOT NULL, \
    version text NOT NULL, date text NOT NULL, schema bytea NOT NULL, \
    PRIMARY KEY ("table", digest))
    """
  }

  /// What the role can do: `write`, `create` and write, or `nothing`.
  private var ask: String {
    """
    SELECT CASE WHEN to_regclass(\(table.quotedText)) IS NOT NULL \
    THEN CASE WHEN has_table_privilege(to_regclass(\(table.quotedText)), 'SELECT') \
    AND has_table_privilege(to_regclass(\(table.quotedText)), 'INSERT') \
    THEN 'write' ELSE 'nothing' END \
    WHEN has_schema_privilege(to_regnamespace(\(schema.quotedText)), 'CREATE') THEN 'create' \
    ELSE 'nothing' END
    """
  }

  /// Writes the schema of a type unless it is there, outside of transactions. It is for people:
  /// what cannot be written is left out.
  func write(_ schema: EntitySchema, _ connection: Connection) {
    guard connection.isIdle else { return }
    // Two programs may create the table at the same time.
    for _ in 0..<2 {
      do throws(PostgresError) { return try add(schema, connection) } catch {
        if !error.isConflict { return }
      }
    }
  }

  /// The statement that writes the schema of a type, with its values.
  func insertion(of schema: EntitySchema) -> String {
    let encoded = schema.encoded
    return "INSERT INTO \(table) (\"table\", digest, version, date, schema) VALUES ("
      + [schema.table, encoded.digest, LibraryVersion.current].map(\.quotedText)
      .joined(separator: ", ")
      + ", \(Self.now), '\\x\(encoded.bytes.hexadecimal)') ON CONFLICT DO NOTHING"
  }

  /// The time in UTC.
  private static let now =
    "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"

  private func add(_ schema: EntitySchema, _ connection: Connection) throws(PostgresError) {
    let answer = try connection.execute(ask).text(0, 0)
    if answer == "nothing" { return }
    if answer == "create" { try connection.execute(create) }
    let encoded = schema.encoded
    let parameters = connection.parameters
    parameters.begin(2)
    parameters.set(0, text: schema.table)
    parameters.set(1, text: encoded.digest)
    if try connection.runOnce(find).count > 0 { return }
    parameters.begin(4)
    parameters.set(0, text: schema.table)
    parameters.set(1, text: encoded.digest)
    parameters.set(2, text: LibraryVersion.current)
    encoded.bytes.withUnsafeBytes { parameters.set(3, copying: $0) }
    try connection.runOnce(insert)
  }
}
