// DataFile: an SQLite file with objects, opened to be looked at.
//
//  - Reading leaves no trace: no file beside it that was not there before, and no change.
//  - A type's names come from a schema that the caller gives, or else from the schemas that the
//    file keeps. Without either its rows are shown without names.
//  - Questions are answered as in programs: a type has the same entity schema as generated code.
//  - A file can also be that of a workspace that is open anyway. Then it is read, and changed, by
//    this workspace, and is not closed with the `DataFile`.

import Dflat
import DflatSchema
import Foundation
import Platform
import SQLiteAccess
public import SQLiteDflat

/// A file with objects, opened for reading without leaving a trace.
///
///     let file = try DataFile.open("blog.db")
///     defer { file.close() }
///     for type in file.types { print(type.name, type.table) }
///     let answer = try file.query("Post where likes > 10 order by title limit 5")
///
/// Other programs may use the file at the same time. It can be used from any thread; calls block
/// it.
///
/// A program that has a workspace for the file asks the workspace. In particular it does not open
/// one while it has a `DataFile` of the same file: closing that would take the workspace's locks
/// away, as closing any descriptor of a file does.
public final class DataFile: DataStore {
  /// The version of this library.
  public static let libraryVersion = LibraryVersion.current

  /// The path of the file as it was given.
  public let path: String
  let workspace: SQLiteWorkspace
  let given: [GivenSchema]
  private let ownsWorkspace: Bool
  private let reported = StoreProblems()
  private let known: Mutex<KnownTypes>

  /// The types of a file, and what tells whether others have come since.
  private struct KnownTypes {
    var version: StoredTables.Version?
    var types: [StoredType]
  }

  private init(_ workspace: SQLiteWorkspace, isOwned: Bool, given: [GivenSchema]) throws {
    path = workspace.filePath
    self.workspace = workspace
    self.given = given
    ownsWorkspace = isOwned
    known = Mutex(KnownTypes(version: nil, types: []))
    if isOwned { workspace._core.onError = { [reported] in reported.note($0) } }
    // The file of a workspace appears with its first transaction.
    if isOwned || FileManager.default.fileExists(atPath: path) { try readTypes() }
  }

  /// What it could not read since it was opened, and has left out of answers.
  public var problems: [String] { reported.all }

  /// The types with a table in the file, in the order of their names, as they were when it was
  /// opened, or at the last ``refresh()``.
  public var types: [StoredType] { known.withLock { $0.types } }

  /// Finds the types that programs have begun to store since the file was opened. Costs little if
  /// there are none.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func refresh() throws {
    if !ownsWorkspace, !FileManager.default.fileExists(atPath: path) { return }
    try withToolErrors { try readTypes() }
  }

  private func readTypes() throws {
    let last = known.withLock { $0.version }
    let found = try workspace.inspect { connection -> (StoredTables.Version, StoredTables)? in
      let version = try StoredTables.Version(connection)
      return version == last ? nil : (version, try StoredTables(connection))
    }
    guard let (version, tables) = found else { return }
    let types = StoredType.all(in: tables, given: given)
    known.withLock { $0 = KnownTypes(version: version, types: types) }
  }

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file. It must exist.
  ///   - schemas: Paths of `.fbs` files. Their root types are shown by them, and not by the schemas
  ///     that the file keeps.
  ///   - readerLimit: How many calls can read at the same time.
  /// - Returns: The file. Close it after use.
  /// - Throws: ``ToolError`` if there is no such file, it is no database, it cannot be read without
  ///   leaving a trace, or a schema has errors.
  public static func open(
    _ path: String, schemas: [String] = [], readerLimit: Int = 1
  ) throws -> DataFile {
    return try open(
      path, given: try schemas.map { try GivenSchema(path: $0) }, readerLimit: readerLimit)
  }

  /// Opens a file to look at it and to change objects, as a program does: there are files beside it
  /// until it is closed, and running programs see what is changed.
  ///
  /// - Parameters:
  ///   - path: The file. It must exist.
  ///   - schemas: As ``open(_:schemas:readerLimit:)`` takes them.
  /// - Returns: The file. Close it after use.
  /// - Throws: ``ToolError`` if there is no such file, it is no database, or a schema has errors.
  public static func openForChanges(_ path: String, schemas: [String] = []) throws -> DataFile {
    try requireFile(path)
    let given = try schemas.map { try GivenSchema(path: $0) }
    return try withToolErrors { try open(path, SQLiteWorkspace(filePath: path), given) }
  }

  /// The file of a workspace that is open. It is read by the workspace, and may not exist yet;
  /// ``close()`` has no effect.
  ///
  /// - Parameters:
  ///   - workspace: The workspace.
  ///   - schemas: As ``open(_:schemas:readerLimit:)`` takes them.
  /// - Throws: ``ToolError`` if the file cannot be read, or a schema has errors.
  public convenience init(of workspace: SQLiteWorkspace, schemas: [String] = []) throws {
    let given = try schemas.map { try GivenSchema(path: $0) }
    do { try self.init(workspace, isOwned: false, given: given) } catch let error as StorageError {
      throw ToolError(error)
    }
  }

  /// Whether objects can be changed; see ``commit(_:replacing:)``.
  public var isWritable: Bool { workspace.isWritable }

  /// For this library: whether the file is there.
  public var _isThere: Bool { !types.isEmpty || FileManager.default.fileExists(atPath: path) }

  /// - Throws: `ToolError` if there is no file, or something else. To open a pipe, for example,
  ///   would wait until another program opens it, too.
  static func requireFile(_ path: String) throws {
    var status = stat()
    if stat(path, &status) != 0 { throw missingFile(path, errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR:
      throw ToolError(.storage, "\(path) is a folder", advice: "name a file in it")
    default:
      throw ToolError(
        .storage, "\(path) is no ordinary file, but a pipe or a device",
        advice: "copy its content to a file")
    }
  }

  /// - Parameter number: Why the system does not find the file.
  private static func missingFile(_ path: String, _ number: Int32) -> ToolError {
    var status = stat()
    let isLink = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    switch number {
    case ELOOP:
      return ToolError(
        .noSuchFile, "\(path) is a symbolic link that leads to itself",
        advice: "let it lead to a file, or name the file")
    case ENOENT where isLink:
      return ToolError(
        .noSuchFile, "\(path) is a symbolic link to no file",
        advice: "let it lead to a file, or name the file")
    case ENOENT, ENOTDIR:
      return ToolError(.noSuchFile, "there is no file \(path)", advice: "check the path")
    default:
      return ToolError(
        .storage, "\(path) cannot be looked at: \(String(cString: strerror(number)))",
        advice: "check the path, and whether you may use its folder")
    }
  }

  static func open(
    _ path: String, given: [GivenSchema], readerLimit: Int = 1
  ) throws -> DataFile {
    try requireFile(path)
    return try withToolErrors { try openStored(path, given, readerLimit: readerLimit) }
  }

  /// Opens a file to look at it.
  /// - Throws: `StorageError`, with what to do about a file that is damaged.
  static func openStored(
    _ path: String, _ given: [GivenSchema], readerLimit: Int = 1
  ) throws -> DataFile {
    try FileReplacement.requireNotInterrupted(path)
    var configuration = SQLiteWorkspace.Configuration()
    configuration.isReadOnly = true
    configuration.leavesNoTrace = true
    configuration.readerLimit = readerLimit
    return try open(path, SQLiteWorkspace(filePath: path, configuration: configuration), given)
  }

  private static func open(
    _ path: String, _ workspace: SQLiteWorkspace, _ given: [GivenSchema]
  ) throws -> DataFile {
    do { return try DataFile(workspace, isOwned: true, given: given) } catch {
      workspace.shutdown()
      guard let error = error as? StorageError, error.cause == .corruptFile else { throw error }
      throw DamagedFile.advised(error, path)
    }
  }

  /// Closes the file. Waits for calls on other threads.
  public func close() {
    if !ownsWorkspace { return }
    workspace.shutdown()
    if isWritable { removeEmptyLog() }
  }

  /// Removes the empty log that reading connections have made: they cannot. SQLite does it when the
  /// last connection that can write is closed, and leaves it to others that have the file open.
  private func removeEmptyLog() {
    var status = stat()
    let log = FileReplacement.path(of: "-wal", beside: path)
    guard stat(log, &status) == 0, status.st_size == 0,
      let connection = try? Connection(path: path, mode: .readWrite)
    else { return }
    _ = try? connection.schemaVersion()
    try? connection.close()
  }
}

extension StoredType {
  /// The type with a name: `Post`, `Blog.Post`, or the name of its table.
  static func named(
    _ name: String, among types: [StoredType], of path: String
  ) throws -> StoredType {
    if let type = types.first(where: { $0.table == name || $0.fullName == name }) { return type }
    let lowercase = name.lowercased()
    let found = types.filter {
      $0.name == name || $0.fullName.lowercased() == lowercase
    }
    if found.count == 1 { return found[0] }
    if found.count > 1 {
      throw ToolError(
        .usage, "several types are called \(name)",
        advice: "use the name of a table: \(found.map(\.table).joined(separator: ", "))")
    }
    let names = types.map(\.name)
    let problems = Set(types.compactMap(\.problem)).sorted().map { "; \($0)" }.joined()
    let advice =
      suggestion(for: name, among: names)
      ?? (names.isEmpty
        ? "it has no objects of Dflat" : "there are \(names.joined(separator: ", "))")
    throw ToolError(.usage, "there is no type \(name) in \(path)", advice: advice + problems)
  }
}

extension StoredTables {
  /// Differs after tables or schemas have come or gone.
  struct Version: Equatable {
    private let values: [SQLValue?]

    init(_ connection: Connection) throws {
      let keepsSchemas = try connection.value(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'dflat_schemas'")
      values = [
        try connection.value("PRAGMA main.schema_version"),
        keepsSchemas == nil ? nil : try? connection.value("SELECT max(rowid) FROM dflat_schemas"),
      ]
    }
  }

  /// The tables that the types of some schemas would have in a new file.
  init(of given: [GivenSchema]) {
    self.init()
    for schema in given where !mains.contains(where: { $0.table == schema.table }) {
      let keys = schema.definition.fields.filter(\.isPrimary)
      add(main: schema.table, keys: keys.indices.map { "__pk\($0)" })
    }
  }
}

/// A schema that the caller gives.
package struct GivenSchema: Sendable {
  let path: String
  let types: CompiledTypes
  let root: QualifiedName
  let definition: TableDefinition
  let table: String

  /// - Throws: `ToolError` with the compiler's messages.
  package init(path: String) throws {
    let result = SchemaCompiler().compile(file: path)
    guard let schema = result.schema else {
      let messages = result.diagnostics.map { $0.rendered() }.joined(separator: "\n")
      throw ToolError(.badData, messages)
    }
    guard let root = schema.files.first?.root, case .table(let definition)? = schema.types[root]
    else {
      throw ToolError(
        .badData, "\(path) has no root type", advice: "give the schema of a type that is stored")
    }
    self.init(CompiledTypes(schema), root, definition, path: path)
  }

  private init(
    _ types: CompiledTypes, _ root: QualifiedName, _ definition: TableDefinition, path: String
  ) {
    self.path = path
    self.types = types
    self.root = root
    self.definition = definition
    table = types.schema.tableName(of: root)
  }

  /// The types of the files that it includes, which it may refer to.
  var included: [GivenSchema] {
    types.schema.files.dropFirst().compactMap { file in
      guard let root = file.root, case .table(let definition)? = types.schema.types[root] else {
        return nil
      }
      return GivenSchema(types, root, definition, path: file.path)
    }
  }
}
