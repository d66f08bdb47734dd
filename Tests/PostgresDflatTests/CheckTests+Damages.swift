// What plain SQL can do to a database, and what the check finds then.

import Dflat
import DflatTestSupport
import Testing

extension CheckTests {
  /// Statements that damage a database, and what the check finds then.
  struct Damage: CustomTestStringConvertible {
    let name: String
    /// `@` stands for the PostgreSQL schema.
    let sql: String
    let found: [String]

    var testDescription: String { name }
  }

  static let damages = [
    Damage(
      name: "an object's bytes", sql: "UPDATE @.note SET p = '\\x0102' WHERE pk0 = 3",
      found: ["damage damagedRow note 3", "note unloggedChange note 3"]),
    Damage(
      name: "a key column", sql: "UPDATE @.note SET pk0 = 77 WHERE pk0 = 2",
      found: ["damage wrongKey note 2", "note unloggedChange note 2"]),
    Damage(
      name: "a text of a key", sql: "UPDATE @.\(posts) SET pk0 = 'x' WHERE rowid = 5",
      found: ["damage wrongKey \(posts) 5", "note unloggedChange \(posts) 5"]),
    Damage(
      name: "an index column", sql: "UPDATE @.\(posts) SET f10 = 1000 WHERE rowid = 4",
      found: ["damage wrongIndexRow \(posts) 4", "note unloggedChange \(posts) 4"]),
    Damage(
      name: "the words of a text",
      sql: "UPDATE @.\(Tale.Story._schema.table) SET \"%words\" = 'other'",
      found: [
        "damage wrongIndexRow \(Tale.Story._schema.table) 1",
        "note unloggedChange \(Tale.Story._schema.table) 1",
      ]),
    Damage(
      name: "a key that is referred to",
      sql: "DELETE FROM @.\(Guild.Writer._schema.table)",
      found: ["note danglingReference \(stories) 1"]),
    Damage(
      name: "a row that plain SQL has inserted",
      sql: "INSERT INTO @.note (pk0, p) SELECT pk0, p FROM @.note WHERE false; "
        + "CREATE TEMP TABLE kept AS SELECT * FROM @.note WHERE pk0 = 4; "
        + "DELETE FROM @.note WHERE pk0 = 4; "
        + "INSERT INTO @.note OVERRIDING SYSTEM VALUE SELECT * FROM kept; DROP TABLE kept",
      found: ["note unloggedChange note 4"]),
    Damage(
      name: "a table", sql: "DROP TABLE @.note CASCADE",
      found: ["damage missingTable note -"]),
    Damage(
      name: "a column of an index", sql: "ALTER TABLE @.\(posts) DROP COLUMN f10",
      found: ["damage wrongColumn \(posts) -"]),
    Damage(
      name: "the type of a column",
      sql: "ALTER TABLE @.\(posts) ALTER f10 TYPE numeric",
      found: ["damage wrongColumn \(posts) -", "note unloggedChange \(posts) 1"]),
    Damage(
      name: "the type of a key", sql: "ALTER TABLE @.note ALTER pk0 TYPE numeric",
      found: ["damage wrongColumn note -", "note unloggedChange note 1"]),
    Damage(
      name: "a key that may be NULL", sql: "ALTER TABLE @.note ALTER pk0 DROP NOT NULL",
      found: ["damage wrongColumn note -"]),
    Damage(
      name: "a key's constraint", sql: "ALTER TABLE @.note DROP CONSTRAINT note_pk0_key",
      found: ["damage wrongColumn note -"]),
    Damage(
      name: "the numbers of new rows", sql: "ALTER TABLE @.note ALTER rowid DROP IDENTITY",
      found: ["damage wrongColumn note -"]),
    Damage(
      name: "an index", sql: "DROP INDEX @.\"\(posts) f10\"",
      found: ["repairable damagedIndex \(posts) -"]),
    Damage(
      name: "another index with its name",
      sql:
        "DROP INDEX @.\"\(posts) f10\"; CREATE INDEX \"\(posts) f10\" ON @.\(posts) (f10, rowid)",
      found: ["repairable damagedIndex \(posts) -"]),
    Damage(
      name: "an index of some rows",
      sql: "DROP INDEX @.\"\(posts) f10\"; CREATE INDEX \"\(posts) f10\" ON @.\(posts) "
        + "(f10 NULLS FIRST, rowid) WHERE f10 > 0",
      found: ["repairable damagedIndex \(posts) -"]),
    Damage(
      name: "the sequence of row ids", sql: "SELECT setval('@.note_rowid_seq', 2)",
      found: ["damage wrongSequence note -"]),
    Damage(
      name: "the marks", sql: "DELETE FROM @._dflat_columns WHERE tbl = 'note'",
      found: ["damage damagedMark note -"]),
    Damage(
      name: "the version of the marks", sql: "DELETE FROM @._dflat_state",
      found: ["damage damagedMark @._dflat_state -"]),
    Damage(
      name: "the log's bound", sql: "DELETE FROM @._dflat_log_cut",
      found: ["damage damagedLog @._dflat_log_cut -"]),
    Damage(
      name: "the numbers of the log", sql: "SELECT setval('@._dflat_log_n_seq', 1)",
      found: ["damage wrongSequence _dflat_log -"]),
    Damage(
      name: "a table of the engine", sql: "DROP TABLE @._dflat_first_writes",
      found: ["damage missingTable @._dflat_first_writes -"]),
    Damage(
      name: "a column of the engine", sql: "ALTER TABLE @._dflat_commits ALTER seq TYPE text",
      found: ["damage wrongColumn @._dflat_commits -"]),
    Damage(
      name: "a number of the ledger",
      sql: "UPDATE @._dflat_commits SET seq = 70 WHERE workspace LIKE '%.0.0'",
      found: ["damage damagedLedger @._dflat_commits -"]),
    Damage(
      name: "the ledger", sql: "DELETE FROM @._dflat_commits",
      found: ["damage damagedLedger @._dflat_commits -"]),
    Damage(
      name: "a schema",
      sql: "UPDATE @.dflat_schemas SET schema = '\\x00' WHERE \"table\" = 'note'",
      found: ["note damagedSchema @.dflat_schemas -"]),
  ]
}

extension CheckTests.Damage {
  /// Whether the first finding has statements that repair it.
  var isRepairedByAdvice: Bool {
    [
      "an index column", "the words of a text", "a column of an index", "the type of a column",
      "a key that may be NULL", "another index with its name", "an index of some rows",
      "the sequence of row ids", "the version of the marks", "the log's bound",
      "the numbers of the log", "a schema", "an index", "a key's constraint",
    ].contains(name)
  }
}
