// Views for programs that read by plain SQL.

public import Dflat

extension PostgresWorkspace {
  /// Creates a view for each type, with the names and values of all fields, for programs that read
  /// by plain SQL.
  ///
  ///     try await dflat.createViews(for: Post.self)
  ///     // psql: SELECT title, priority FROM dflat.post_view WHERE tag = 'news';
  ///
  /// A view is called like the table, with `_view` behind. Its first column is the row id, `rowid`.
  /// Integers are `bigint`, those of `ulong` are `numeric`; `float` and `double` are
  /// `double precision`; strings and the names of an enum's values are `text`; tables, structs,
  /// unions and vectors are `jsonb`. A field that is absent has its default. Text has U+2400 in the
  /// place of NUL, which the server cannot store.
  ///
  /// Views cannot be written to. Values are read from the objects' bytes, so the server looks at
  /// each object, unless a condition is about numbers of the primary key. Call this again after the
  /// schema has changed; what stands on a view may keep a removed field from being taken out of it.
  /// To read them, a role needs `USAGE` on the PostgreSQL schema, and `SELECT` on the views.
  ///
  /// - Parameter type: The entity types. Their tables are created if they do not exist.
  /// - Throws: `StorageError`: `.readOnly` if the role may not create something, `.cannotOpen`
  ///   without a connection.
  public func createViews<each Element: Atom>(
    for type: repeat (each Element).Type
  ) async throws {
    var schemas: [EntitySchema] = []
    for type in repeat each type { schemas.append(type._schema) }
    try await engine.offTask { [schemas] engine in try engine.createViews(of: schemas) }
  }
}

extension PostgresEngine {
  fileprivate func createViews(of schemas: [EntitySchema]) throws {
    try createTables(of: schemas)
    try withStorageErrors(isWriting: true) {
      let connection = try connector.connect(.layout)
      try connection.execute(system.beginLayout)
      for function in ObjectFunctions(schema: system.schema).create {
        try connection.execute(function)
      }
      for schema in schemas {
        let view = ObjectView(table: table(of: schema), schema: system.schema)
        try connection.execute("SAVEPOINT view")
        do throws(PostgresError) { try connection.execute(view.create) } catch {
          if error.state != "42P16" { throw error }
          // A field was removed.
          try connection.execute("ROLLBACK TO view; DROP VIEW \(view.name)")
          try connection.execute(view.create)
        }
      }
      try connection.commit()
    }
  }
}
