// PlainSQLTriggers: triggers that write into the log of changes what plain SQL changes.
//
// Each connection of Dflat marks its session (`SessionToken`) and logs its changes itself. The
// triggers' conditions look for the mark, so they never run for Dflat. For others they run for each
// row, in the transaction that changes it: the log has what is committed.
//
// A transaction counts what it has logged of a table in a setting of its own: behind 1000 rows one
// entry without ids says that any row may have changed, and nothing more is logged. When it begins
// to log, it looks for listeners, and notifies them at its end if there are any.
//
// The function runs with the rights of its owner: a role that may change a table needs no right on
// the log.

struct PlainSQLTriggers: Sendable {
  /// What the log has as the name of the workspace.
  static let workspace = "plain SQL"
  private static let name = "_dflat_plain"
  /// The names of the triggers of a table.
  static let names = ["rows", "update", "truncate"].map { "\(name)_\($0)" }

  private let function: String
  private let log: ChangeLog

  /// - Parameter schema: The PostgreSQL schema of all tables, quoted.
  init(_ log: ChangeLog, schema: String) {
    self.log = log
    function = "\(schema)._dflat_log_plain"
  }

  /// Creates the function.
  var createFunction: String {
    """
    CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql \
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      counter text := 'dflat.plain_' || TG_RELID;
      logged bigint := coalesce(nullif(current_setting(counter, true), ''), '0')::bigint;
      changed bigint[];
    BEGIN
      IF logged > \(ChangedRows.most) THEN RETURN NULL; END IF;
      IF logged = 0 THEN
        IF (\(log.isHeard)) THEN \(log.performNotify(by: Self.workspace)); END IF;
      END IF;
      logged := logged + 1;
      IF TG_OP = 'TRUNCATE' THEN
        logged := \(ChangedRows.most + 1);
      ELSIF logged <= \(ChangedRows.most) THEN
        changed := CASE TG_OP WHEN 'INSERT' THEN ARRAY[NEW.rowid] WHEN 'DELETE' THEN
          ARRAY[OLD.rowid] ELSE ARRAY[OLD.rowid, NEW.rowid] END;
      END IF;
      PERFORM set_config(counter, logged::text, true);
      INSERT INTO \(log.table) (workspace, tbl, ids)
        VALUES (\(Self.workspace.quotedText), TG_ARGV[0], changed);
      RETURN NULL;
    END
    $body$
    """
  }

  /// Creates the triggers of a table that it lacks.
  func create(on table: EntityTable) -> String {
    let isPlain = "coalesce(current_setting('dflat.session', true), '') = ''"
    let call = "EXECUTE FUNCTION \(function)(\(table.name.quotedText))"
    let triggers = [
      ("rows", "AFTER INSERT OR DELETE", "FOR EACH ROW WHEN (\(isPlain))"),
      (
        "update", "AFTER UPDATE",
        "FOR EACH ROW WHEN (\(isPlain) AND (OLD.p IS DISTINCT FROM NEW.p OR OLD.rowid <> NEW.rowid))"
      ),
      ("truncate", "AFTER TRUNCATE", "FOR EACH STATEMENT WHEN (\(isPlain))"),
    ]
    let statements = triggers.map { suffix, event, condition in
      """
      IF NOT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgname = '\(Self.name)_\(suffix)'
        AND tgrelid = pg_catalog.to_regclass(\(table.quoted.quotedText))) THEN
        CREATE TRIGGER \(Self.name)_\(suffix) \(event) ON \(table.quoted) \(condition) \(call);
      END IF;
      """
    }
    return "DO $do$ BEGIN \(statements.joined(separator: "\n")) END $do$"
  }
}
