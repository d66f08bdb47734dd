// Preparing a database for programs: all tables, columns and indexes of types that are known by
// their schemas.

import Dflat
public import DflatTools
import PostgresDflat

/// What a database gets before programs use it: all tables, columns and indexes of some types.
///
///     let preparation = try ServerPreparation(
///       ofServer: "postgresql://owner@db.example/app", schemas: ["post.fbs"])
///     try preparation.run()
///     for grant in preparation.grants(to: "app") { print(grant + ";") }
///
/// A program that has the types calls `PostgresWorkspace.prepare` instead. Calls block the thread.
public struct ServerPreparation: Sendable {
  /// The types, without namespaces.
  public let types: [String]
  /// The address without its password.
  public let path: String
  private let address: ParsedAddress
  private let entities: [EntitySchema]

  /// - Parameters:
  ///   - address: As `DataServer.open` takes it. The PostgreSQL schema need not be there.
  ///   - schemas: Paths of `.fbs` files with the types.
  ///   - store: A file or a database whose types are prepared, too. If there are neither, those are
  ///     prepared that the database itself keeps.
  /// - Throws: `ToolError`: `.badData` for a schema with errors, `.usage` if there are no types, or
  ///   nothing is known of one but its bytes.
  public init(
    ofServer address: String, schemas: [String], typesOf store: (any DataStore)? = nil
  ) throws {
    self.address = try ParsedAddress(address)
    path = self.address.shown
    var types = StoredType.all(given: try schemas.map { try GivenSchema(path: $0) })
    if let store {
      types += store.types.filter { type in !types.contains { $0.table == type.table } }
    } else if types.isEmpty {
      let server = try DataServer.open(self.address, given: [])
      defer { server.close() }
      types = server.types
    }
    if types.isEmpty {
      throw ToolError(
        .usage, "there are no types to prepare \(path) for",
        advice: "give them with --schema FILE.fbs, or a file that has them with --from FILE")
    }
    entities = try types.map { try $0.requireEntity() }
    self.types = types.map(\.name)
  }

  /// Creates what is missing, fills the columns of indexes, and returns when they are complete.
  /// Programs go on meanwhile.
  /// - Throws: `ToolError` if the role may not, or something is in the way.
  public func run() throws {
    let workspace = address.workspace()
    defer { workspace.shutdown() }
    try address.withToolErrors { try workspace.prepare(entities) }
  }

  /// The statements that create what is missing, each without a semicolon; none if everything is
  /// there. Columns that are new in a table with objects are filled by programs, and not by them.
  /// Nothing is changed.
  /// - Throws: `ToolError` if the server cannot be asked what is missing.
  public func statements() throws -> [String] {
    let workspace = address.workspace { $0.isReadOnly = true }
    defer { workspace.shutdown() }
    return try address.withToolErrors { try workspace.preparation(of: entities) }
  }

  /// The statements that give a role all that a program needs which uses the types.
  /// - Parameters:
  ///   - role: The name of the role.
  ///   - readsOnly: Whether the program only reads.
  /// - Returns: The statements, each without a semicolon.
  public func grants(to role: String, readsOnly: Bool = false) -> [String] {
    let workspace = address.workspace { $0.isReadOnly = true }
    defer { workspace.shutdown() }
    return workspace.grants(to: role, for: entities, access: readsOnly ? .reading : .writing)
  }
}
