// Live results that follow plain SQL.

public import Dflat

extension PostgresWorkspace {
  /// Creates triggers that write into the log of changes which rows plain SQL changes, so that live
  /// results of all programs follow that.
  ///
  ///     try await dflat.prepare(Post.self)
  ///     try await dflat.logPlainSQL(of: Post.self)
  ///     // psql: DELETE FROM dflat.post WHERE f10 < 0;
  ///
  /// For a step of a deployment that runs as the owner of the tables. What `INSERT`, `DELETE`,
  /// `TRUNCATE`, and `UPDATE` of objects' bytes change is logged in the same transaction, also for
  /// the values of dictionaries. Transactions of Dflat log their changes themselves: for them each
  /// trigger has a condition that is false. Triggers that exist stay as they are, and writers wait
  /// for a moment while one is created.
  ///
  /// Triggers do not make changes right. Other programs cannot write the bytes of an object, and
  /// must keep the columns of keys and indexes as they belong to the bytes; a deletion is safe if
  /// nothing refers to the object. `session_replication_role = replica`, a restored dump and
  /// logical replication run no triggers.
  ///
  /// To remove the triggers of all tables, run `DROP FUNCTION dflat._dflat_log_plain CASCADE`.
  ///
  /// - Parameter type: The entity types. Their tables are created if they do not exist.
  /// - Throws: `StorageError`: `.readOnly` if the role is not the owner of a table, `.busy` if a
  ///   lock is not granted in time, `.cannotOpen` without a connection.
  public func logPlainSQL<each Element: Atom>(
    of type: repeat (each Element).Type
  ) async throws {
    var schemas = [DictionaryItem.schema]
    for type in repeat each type { schemas.append(type._schema) }
    try await engine.offTask { [schemas] engine in try engine.logPlainSQL(of: schemas) }
  }
}

extension PostgresEngine {
  fileprivate func logPlainSQL(of schemas: [EntitySchema]) throws {
    try createTables(of: schemas)
    let triggers = PlainSQLTriggers(system.log, schema: system.schema)
    try withStorageErrors(isWriting: true) {
      let connection = try connector.connect(.layout)
      try connection.execute(system.beginLayout)
      try connection.execute(triggers.createFunction)
      try connection.commit()
      // Each table in a transaction of its own: writers of one wait for no other one.
      for schema in schemas {
        try connection.execute(system.beginLayout)
        try connection.execute(triggers.create(on: table(of: schema)))
        try connection.commit()
      }
    }
  }
}
