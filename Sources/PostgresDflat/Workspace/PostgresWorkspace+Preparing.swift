// Preparing a database, so that programs need no right to create anything.

public import Dflat
import Dispatch
import Platform

extension PostgresWorkspace {
  /// Creates the tables, columns and indexes of types, and those that belong to no type, and waits
  /// until all of them are complete.
  ///
  ///     let dflat = try await PostgresWorkspace.open("postgresql://owner@db.example/app")
  ///     try await dflat.prepare(Post.self, Author.self)
  ///
  /// A program creates what it lacks when it first uses it. This is for a step of a deployment that
  /// runs as the owner of the tables, before programs whose roles may not create anything; see
  /// ``grants(to:for:access:)``. What is there already stays as it is, and so does the data.
  /// Programs continue to read and write meanwhile. It does not block the task's thread.
  ///
  /// - Parameter type: The entity types that programs use. Dictionaries are always prepared.
  /// - Throws: `StorageError`: `.readOnly` if the role may not create something, `.cannotOpen`
  ///   without a connection, and the errors of `indexesReady(for:)`. `CancellationError` if the
  ///   task is cancelled; call it again to continue.
  public func prepare<each Element: Atom>(_ type: repeat (each Element).Type) async throws {
    var schemas = [DictionaryItem.schema]
    for type in repeat each type { schemas.append(type._schema) }
    try await engine.offTask { [schemas] engine in try engine.createTables(of: schemas) }
    for type in repeat each type { try await indexesReady(for: type) }
  }

  /// What a role may do.
  public enum Access: Sendable {
    /// It reads and writes objects. It needs no right to create anything if the database was
    /// prepared.
    case writing
    /// It only reads, with ``Configuration/isReadOnly``.
    case reading
  }

  /// The statements that give a role all the rights that a program needs which uses some types, and
  /// no other ones.
  ///
  ///     for statement in dflat.grants(to: "app", for: Post.self, Author.self) { print(statement) }
  ///
  /// Run them as the owner of the tables, after ``prepare(_:)``. This call does not connect. The
  /// role must also be allowed to connect to the database, as every role is by default.
  ///
  /// - Parameters:
  ///   - role: The name of the role.
  ///   - type: The entity types that the program uses.
  ///   - access: What the role may do.
  /// - Returns: The statements, each without a semicolon.
  public func grants<each Element: Atom>(
    to role: String, for type: repeat (each Element).Type, access: Access = .writing
  ) -> [String] {
    var schemas = [DictionaryItem.schema]
    for type in repeat each type { schemas.append(type._schema) }
    return engine.grants(access, to: role, for: schemas)
  }
}

// For tools, which know types by their schemas.
extension PostgresWorkspace {
  /// The same as `prepare(_:)`, on the calling thread. Tables that belong to no type are created
  /// again if one of them is gone.
  package func prepare(_ schemas: [EntitySchema]) throws {
    try engine.createTables(of: [DictionaryItem.schema] + schemas, isThorough: true)
    for schema in schemas {
      let outcome = Mutex<Result<Void, any Error>>(.success(()))
      let isDone = DispatchSemaphore(value: 0)
      _core.buildIndexes(of: schema) { step in
        switch step {
        case .success(let progress):
          guard progress.isFinished else { return }
          if !progress.blocked.isEmpty {
            let error =
              progress.obstacle
              ?? StorageError(
                .alreadyExists, table: schema.table,
                message: "an index cannot be completed: \(progress.blocked.joined(separator: ", "))"
              )
            outcome.withLock { $0 = .failure(error) }
          }
        case .failure(let error): outcome.withLock { $0 = .failure(error) }
        }
        isDone.signal()
      }
      isDone.wait()
      try outcome.withLock { $0 }.get()
    }
  }

  /// The statements that `prepare` would run, for psql: those that create what is missing. Nothing
  /// is changed.
  package func preparation(of schemas: [EntitySchema]) throws -> [String] {
    try engine.preparation(of: [DictionaryItem.schema] + schemas)
  }

  /// The same as `grants(to:for:access:)`.
  package func grants(to role: String, for schemas: [EntitySchema], access: Access) -> [String] {
    engine.grants(access, to: role, for: [DictionaryItem.schema] + schemas)
  }
}

extension PostgresEngine {
  /// Creates the tables that do not exist.
  /// - Parameter isThorough: Whether each of the tables that belong to no type is looked for.
  func createTables(of schemas: [EntitySchema], isThorough: Bool = false) throws {
    if isThorough { try withStorageErrors { try createSystemTables(isThorough: true) } }
    try prepareForWriting(inTransaction: false)
    for schema in schemas {
      try withStorageErrors(table: schema.table, isWriting: true) {
        try forgetDropped(table(of: schema))
        _ = try layOut(table(of: schema))
        system.kept.write(schema, try connector.connect(.layout))
      }
    }
  }
}

extension PostgresEngine {
  /// The statements that give a role what it needs for some types.
  fileprivate func grants(
    _ access: PostgresWorkspace.Access, to role: String, for schemas: [EntitySchema]
  ) -> [String] {
    system.grants(access, to: role, on: schemas.map { table(of: $0).quoted })
  }

  /// The statements that create what is missing.
  fileprivate func preparation(of schemas: [EntitySchema]) throws -> [String] {
    try withStorageErrors {
      let connection = try connector.connect(.reading)
      let answer = try connection.execute(
        "SELECT to_regclass(\(system.columns.quotedText)) IS NOT NULL")
      let isThere = answer.text(0, 0) == "t"
      let marks = isThere ? try IndexMarks(version: 0, system, connection).tables : [:]
      var statements = try [system.createMissing(connection)].compactMap(\.self)
      for schema in schemas {
        let table = table(of: schema)
        let isDropped = try marks[table.name] != nil && !exists(table, connection)
        let missing =
          isDropped
          ? nil
          : marks[table.name].map { known in
            table.columnNames.filter { known[$0] == nil }
          }
        if missing != [] {
          let changes = missing.map { table.add($0, system) } ?? table.create(system)
          let old = isDropped ? [system.forget(table.name)] : []
          statements += [system.beginLayout] + old + changes + [system.bump.text, "COMMIT"]
        }
        if missing != nil {
          for index in try missingIndexes(of: table, connection) {
            statements.append("DROP INDEX IF EXISTS \(system.schema).\(index.name.quotedName)")
            statements.append(table.create(index, concurrently: true))
          }
        }
      }
      return try statements + system.kept.missing(schemas, connection)
    }
  }
}

extension SystemSQL {
  /// The statements that give a role what it needs.
  /// - Parameter tables: The quoted names of the tables of its types.
  fileprivate func grants(
    _ access: PostgresWorkspace.Access, to role: String, on tables: [String]
  ) -> [String] {
    func grant(_ rights: String, on objects: String) -> String {
      "GRANT \(rights) ON \(objects) TO \(role.quotedName)"
    }
    let usage = grant("USAGE", on: "SCHEMA \(schema)")
    switch access {
    case .reading:
      return [usage, grant("SELECT", on: (tables + all + [kept.table]).joined(separator: ", "))]
    case .writing:
      return [
        usage,
        grant("SELECT, INSERT, UPDATE, DELETE", on: tables.joined(separator: ", ")),
        // COPY takes the row ids from them, and `copy(to:)` sets them.
        grant("USAGE, UPDATE", on: "ALL SEQUENCES IN SCHEMA \(schema)"),
        grant("SELECT, INSERT, UPDATE, DELETE", on: "\(commits), \(log.table)"),
        grant("SELECT, INSERT", on: "\(firstWrites), \(kept.table)"),
        grant("SELECT, UPDATE", on: "\(columns), \(state), \(log.cutTable), \(precedence.table)"),
      ]
    }
  }

  /// The tables that belong to no type.
  private var all: [String] {
    [columns, state, commits, log.table, log.cutTable, firstWrites, precedence.table]
  }
}
