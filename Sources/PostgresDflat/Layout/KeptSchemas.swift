// dflat_schemas: the schemas that rows were written with, for people and tools.
//
//   dflat_schemas ("table" text, digest text, version text, date text, schema bytea,
//                  PRIMARY KEY ("table", digest))
//
//  - There is one row for each table and shape, as in files of SQLiteDflat: `schema` is what
//    `flatc --schema --binary` writes, `digest` its SHA-256, `version` that of the library that
//    wrote it, `date` the time in UTC.
//  - It is written behind the first commit of a workspace that has written the type, in the message
//    with the COMMIT and in a transaction of its own, and by `prepare`. A role that may not write
//    it leaves it as it is. It is no part of the program's transaction, which must not fail or wait
//    for it: two programs may write it at the same time.
//  - Queries never read it, and nothing depends on it. A program may delete it.

import Dflat
import Platform

/// The table with the schemas, and its statements.
struct KeptSchemas: Sendable {
  let table: String

  /// - Parameter schema: The quoted PostgreSQL schema of all tables.
  init(schema: String) {
    table = "\(schema).dflat_schemas"
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

  /// Writes the schema of a type unless it is there, outside of transactions. It is for people:
  /// what cannot be written is left out.
  func write(_ schema: EntitySchema, _ connection: Connection) {
    guard connection.isIdle, let statement = writing([schema]) else { return }
    // Two programs may create the table at the same time.
    for _ in 0..<2 {
      do throws(PostgresError) {
        try connection.execute(statement)
        return
      } catch {
        if !error.isConflict { return }
      }
    }
  }

  /// A statement that writes the schemas of types unless they are there, as far as the role may.
  /// - Returns: nil if there are none, or a name does not fit into it.
  func writing(_ schemas: [EntitySchema]) -> String? {
    if schemas.isEmpty { return nil }
    let statements = schemas.map { insertion(of: $0) + ";" }.joined(separator: " ")
    let literal = table.quotedText
    let body = """
      BEGIN
        IF to_regclass(\(literal)) IS NULL THEN
          IF NOT has_schema_privilege(\(schema.quotedText)::regnamespace, 'CREATE') THEN RETURN; END IF;
          \(create);
        END IF;
        IF has_table_privilege(to_regclass(\(literal)), 'SELECT')
          AND has_table_privilege(to_regclass(\(literal)), 'INSERT') THEN \(statements) END IF;
      END
      """
    return body.contains("$kept$") ? nil : "DO $kept$ \(body) $kept$"
  }

  /// The statements that write the schemas of types, for those that are missing.
  func missing(
    _ schemas: [EntitySchema], _ connection: Connection
  ) throws(PostgresError) -> [String] {
    let isThere = try connection.execute("SELECT to_regclass(\(table.quotedText)) IS NOT NULL")
    if isThere.text(0, 0) != "t" { return [create] + schemas.map(insertion) }
    var statements: [String] = []
    for schema in schemas {
      let known = try connection.execute(
        "SELECT 1 FROM \(table) WHERE \"table\" = \(schema.table.quotedText) "
          + "AND digest = \(schema.encoded.digest.quotedText)")
      if known.count == 0 { statements.append(insertion(of: schema)) }
    }
    return statements
  }

  /// The statement that writes the schema of a type, with its values.
  func insertion(of schema: EntitySchema) -> String {
    let encoded = schema.encoded
    return "INSERT INTO \(table) (\"table\", digest, version, date, schema) VALUES ("
      + [schema.table, encoded.digest, LibraryVersion.current].map(\.quotedText)
      .joined(separator: ", ")
      + ", \(Self.now), decode('\(encoded.bytes.hexadecimal)', 'hex')) ON CONFLICT DO NOTHING"
  }

  /// The time in UTC.
  private static let now =
    "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
}
