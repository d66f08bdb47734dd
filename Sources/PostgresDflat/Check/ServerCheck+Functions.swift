// ServerCheck+Functions: the functions that triggers and views call.
//
// Their texts name the PostgreSQL schema. After `ALTER SCHEMA … RENAME` they name one that is gone,
// or by now another one, although the triggers and views have moved with the schema.

import Dflat

extension ServerCheck {
  /// Names the triggers and views that call functions with the name of another PostgreSQL schema.
  mutating func checkFunctions() throws {
    let users = try ask(
      """
      WITH functions AS (SELECT oid, \
      (regexp_match(prosrc, '("([^"]|"")+")\\._dflat_'))[1] AS schema FROM pg_proc \
      WHERE pronamespace = to_regnamespace(\(system.schema.quotedText)) AND proname LIKE '\\_dflat\\_%'), \
      users AS (SELECT functions.*, tgrelid AS relation, tgname AS trigger FROM functions \
      JOIN pg_trigger ON tgfoid = functions.oid UNION SELECT functions.*, ev_class, NULL \
      FROM functions JOIN pg_depend ON refclassid = 'pg_proc'::regclass \
      AND refobjid = functions.oid AND classid = 'pg_rewrite'::regclass \
      JOIN pg_rewrite ON pg_rewrite.oid = objid) \
      SELECT relname, trigger, schema FROM users JOIN pg_class ON pg_class.oid = relation \
      WHERE schema <> \(system.schema.quotedText) ORDER BY 1, 2
      """)
    for user in users {
      let (relation, other) = (user[0] ?? "", user[2] ?? "")
      let (what, call) =
        user[1].map { ("the trigger \($0)", "logPlainSQL(of:)") }
        ?? ("the view", "createViews(for:)")
      add(
        .renamedSchema, .repairable, table: relation,
        "\(what) calls a function that refers to the PostgreSQL schema \(other): "
          + (user[1] == nil ? "it cannot be read" : "plain SQL cannot change the table"),
        advice: "call \(call) again, which replaces the function by one for \(system.schema)")
    }
  }
}
