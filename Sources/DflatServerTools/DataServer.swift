// DataServer: a database on a server with objects, opened to be looked at.
//
//  - Unless it is opened for changes, every transaction only reads, and nothing is created: no
//    table, column or index. A role that may only SELECT is enough.
//  - Names of fields come from a schema that the caller gives, or else from those that the database
//    keeps, as for files.
//  - What is secret in an address is shown nowhere.

public import Dflat
public import DflatTools
import Foundation
import Platform
import PostgresDflat
import SQLiteDflat

/// A database on a server with objects, opened to be looked at.
///
///     let server = try DataServer.open("postgresql://reports@db.example/app")
///     defer { server.close() }
///     let answer = try server.query("Post where likes > 10 order by title limit 5")
///     let report = try server.check()
///
/// Unless it is opened for changes, transactions only read, and nothing is created: a role that may
/// only SELECT is enough. It can be used from any thread; calls block it. All that `DataStore` of
/// `DflatTools` can do works here, too.
public final class DataServer: DataStore {
  /// The address without its password.
  public let path: String
  /// Whether objects can be changed: whether it was opened for that.
  public let isWritable: Bool
  /// For `DflatTools`: true, since a database that is not there cannot be opened.
  public var _isThere: Bool { true }
  private let address: ParsedAddress
  let workspace: PostgresWorkspace
  private let given: [GivenSchema]
  private let known = Mutex(Known())
  private let reported = StoreProblems()
  /// What it could not read since it was opened, and has left out of answers.
  public var problems: [String] { reported.all }

  private struct Known {
    var version: [String?]?
    var types: [StoredType] = []
  }

  private init(_ address: ParsedAddress, given: [GivenSchema], forChanges: Bool) {
    path = address.shown
    self.address = address
    self.given = given
    isWritable = forChanges
    workspace = address.workspace { $0.isReadOnly = !forChanges }
    workspace._core.onError = { [reported] in reported.note($0) }
  }

  /// Whether a text is the address of a server, and not the path of a file.
  public static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// Opens a database.
  ///
  /// - Parameters:
  ///   - address: A connection string, `postgresql://…`. `#NAME` behind it is the PostgreSQL schema
  ///     of the tables, percent-encoded, if it is not `dflat`.
  ///   - schemas: Paths of `.fbs` files. Their root types are shown by them, and not by the schemas
  ///     that the database keeps.
  /// - Returns: The database. Close it after use.
  /// - Throws: `ToolError`: `.usage` if it is no connection string, `.noSuchFile` if there is no
  ///   such database or PostgreSQL schema, `.storage` if the server cannot be reached.
  public static func open(_ address: String, schemas: [String] = []) throws -> DataServer {
    try open(address, schemas: schemas, forChanges: false)
  }

  /// Opens a database to look at it and to change objects, as a program does: tables, columns and
  /// indexes that a changed type needs are created.
  ///
  /// - Parameters:
  ///   - address: As ``open(_:schemas:)`` takes it.
  ///   - schemas: As ``open(_:schemas:)`` takes them.
  /// - Returns: The database. Close it after use.
  /// - Throws: As ``open(_:schemas:)``.
  public static func openForChanges(
    _ address: String, schemas: [String] = []
  ) throws -> DataServer {
    try open(address, schemas: schemas, forChanges: true)
  }

  private static func open(
    _ address: String, schemas: [String], forChanges: Bool
  ) throws -> DataServer {
    let given = try schemas.map { try GivenSchema(path: $0) }
    return try open(ParsedAddress(address), given: given, forChanges: forChanges)
  }

  static func open(
    _ address: ParsedAddress, given: [GivenSchema], forChanges: Bool = false
  ) throws -> DataServer {
    let server = DataServer(address, given: given, forChanges: forChanges)
    do {
      if try !address.withToolErrors({ try server.workspace.hasSchema() }) {
        throw ToolError(
          .noSuchFile, "\(address.shown) has no PostgreSQL schema \(address.schema)",
          advice: "check the address; #NAME behind it names another one")
      }
      try server.refresh()
      return server
    } catch {
      server.close()
      throw error
    }
  }

  /// The types of the database, in the order of their names.
  public var types: [StoredType] { known.withLock { $0.types } }

  /// Looks whether there are new types or schemas.
  public func refresh() throws {
    let last = known.withLock { $0.version }
    let found = try address.withToolErrors { () -> ([String?], ServerTables)? in
      let version = try workspace.tablesVersion()
      return version == last ? nil : (version, try workspace.storedTables())
    }
    guard let (version, found) = found else { return }
    var tables = StoredTables()
    for main in found.mains { tables.add(main: main.name, keys: main.keys) }
    for kept in found.schemas {
      tables.add(
        StoredTables.Kept(
          digest: kept.digest, version: kept.version, date: kept.date, bytes: kept.bytes),
        of: kept.table)
    }
    tables.schemasProblem = found.schemasProblem
    let types = StoredType.all(in: tables, given: given)
    known.withLock { $0 = Known(version: version, types: types) }
  }

  /// Gives its connections back.
  public func close() { workspace.shutdown() }

  /// For the tools.
  public var _workspace: any Workspace { workspace }

  /// For the tools.
  public func _objectsWithoutSchema(
    of type: StoredType, key: [String]?, after id: Int64?, limit: Int
  ) throws -> [StoredObject] {
    try address.withToolErrors {
      try workspace.plainRows(
        ofTable: type.table, keyColumns: type.keyColumns, key: key, after: id, limit: limit
      ).map {
        StoredObject(
          id: $0.id, textKeys: zip(type.keyColumns, $0.keys).map { ($0, $1) }, $0.bytes)
      }
    }
  }

  /// For the tools.
  public func _commitMarks() -> StoreCommits {
    StoreCommits(mark: { [workspace] in try workspace.commitToken().map { AnyHashable($0) } })
  }

  /// What the database has.
  /// - Parameter countingAll: Whether to count the objects of large tables, too; otherwise the
  ///   server's estimate is given.
  public func information(countingAll: Bool = false) throws -> ServerInformation {
    try address.withToolErrors {
      let facts = try workspace.serverFacts()
      let infos = try types.map { type in
        let use = try workspace.use(
          ofTable: type.table, counting: countingAll ? nil : Self.countedBytes)
        let columns = type.entity.map { workspace.indexColumns(of: $0) } ?? []
        return TypeInformation(type, rows: use.rows, areCounted: use.isCounted) { place in
          let states = columns[place].map { use.columns[$0] }
          if states.contains(where: { $0 == nil }) { return .missing }
          return states.allSatisfy { $0 == true } ? .complete : .partial
        }
      }
      return ServerInformation(
        path: path, schema: address.schema, bytes: facts.bytes, serverVersion: facts.version,
        libraryVersion: DataFile.libraryVersion, types: infos,
        dictionaryEntries: try dictionary().count)
    }
  }

  /// Checks the whole database without changing anything, beside running programs: the layout of
  /// its tables, each object against its schema, the key columns, all kinds of indexes, references,
  /// the dictionary, which transactions the log knows of those that have written the rows, the
  /// ledger, and the schemas that the database keeps.
  ///
  /// It reads one state. Memory is bounded; see `PostgresWorkspace.check(_:)`.
  /// - Parameters:
  ///   - limit: How many findings are reported at most.
  ///   - stop: Ends it soon, with an error; nil for nothing.
  ///   - progress: Called now and then with how far it is.
  /// - Throws: `ToolError` if the database cannot be read.
  public func check(
    limit: Int = 100, until stop: StopSignal? = nil,
    _ progress: (@Sendable (CheckProgress) -> Void)? = nil
  ) throws -> CheckReport {
    var options = CheckOptions()
    options.findingLimit = limit
    options.onProgress = progress
    return try address.withToolErrors {
      try workspace.check(types.compactMap(\.entity), options) { stop?.isGiven == true }
    }
  }

  /// Tables up to this size are read to count their objects.
  private static let countedBytes = 64 << 20

  /// How much each table and index takes, the greatest first.
  public func statistics() throws -> [ServerSpaceUse] {
    let names = Dictionary(types.map { ($0.table, $0.name) }) { first, _ in first }
    return try address.withToolErrors {
      try workspace.relationSizes().map {
        ServerSpaceUse(name: $0.name, type: names[$0.table ?? $0.name], bytes: $0.bytes)
      }
    }
  }
}

/// What a database has. It is encoded with the names of its properties.
public struct ServerInformation: StoreInformation {
  /// The address without its password.
  public let path: String
  /// The PostgreSQL schema of the tables.
  public let schema: String
  /// The size of the database in bytes.
  public let bytes: Int
  /// The version of PostgreSQL.
  public let serverVersion: String
  /// The version of this library.
  public let libraryVersion: String
  /// The types, in the order of their names.
  public let types: [TypeInformation]
  /// How many values dictionaries have.
  public let dictionaryEntries: Int
}

/// How much a table or an index of a database takes.
public struct ServerSpaceUse: Sendable, Encodable {
  /// The name of the table or index.
  public let name: String
  /// The type whose table it is, or stands on; nil for others.
  public let type: String?
  /// Its bytes on the server's disk.
  public let bytes: Int
}
