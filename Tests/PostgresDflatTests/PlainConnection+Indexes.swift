// What a server says about its indexes.

import PostgresTestSupport

extension PlainConnection {
  /// Whether the server may use an index; nil if there is none.
  func isValid(index: String, _ schema: String) throws -> Bool? {
    try run(
      "SELECT indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        + "WHERE relname = '\(index)' AND relnamespace = '\"\(schema)\"'::regnamespace"
    ).first.map { $0 == ["t"] }
  }

  /// How many programs the server creates an index of a schema for.
  func indexCreations(_ schema: String, forAtLeast time: String = "0 s") throws -> Int {
    try run(
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%\(schema)%' "
        + "AND state = 'active' AND now() - query_start >= '\(time)' AND pid <> pg_backend_pid()"
    ).count
  }
}
