// Preparing a database, so that programs need no right to create anything.

public import Dflat

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
    return engine.system.grants(access, to: role, on: schemas.map { engine.table(of: $0).quoted })
  }
}

extension PostgresEngine {
  /// Creates the tables that do not exist.
  func createTables(of schemas: [EntitySchema]) throws {
    try prepareForWriting()
    for schema in schemas {
      try withStorageErrors(table: schema.table, isWriting: true) {
        _ = try layOut(table(of: schema))
        system.kept.write(schema, try connector.connect(.layout))
      }
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
