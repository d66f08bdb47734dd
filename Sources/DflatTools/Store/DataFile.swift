// DataFile: an SQLite file with objects, opened to be looked at.
//
//  - Reading leaves no trace: no file beside it that was not there before, and no change.
//  - A type's names come from a schema that the caller gives, or else from the schemas that the
//    file keeps. Without either its rows are shown without names.
//  - Questions are answered as in programs: a type has the same entity schema as generated code.

import Dflat
import DflatSchema
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat

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
public final class DataFile: Sendable {
  /// The version of this library.
  public static let libraryVersion = LibraryVersion.current

  /// The path of the file as it was given.
  public let path: String
  /// The types with a table in the file, in the order of their names.
  public let types: [StoredType]
  let workspace: SQLiteWorkspace

  private init(path: String, types: [StoredType], workspace: SQLiteWorkspace) {
    self.path = path
    self.types = types
    self.workspace = workspace
  }

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The file. It must exist.
  ///   - schemas: Paths of `.fbs` files. Their root types are shown by them, and not by the schemas
  ///     that the file keeps.
  /// - Returns: The file. Close it after use.
  /// - Throws: ``ToolError`` if there is no such file, it is no database, it cannot be read without
  ///   leaving a trace, or a schema has errors.
  public static func open(_ path: String, schemas: [String] = []) throws -> DataFile {
    try requireFile(path)
    return try open(path, given: try schemas.map { try GivenSchema(path: $0) })
  }

  /// - Throws: `ToolError` if there is no file.
  static func requireFile(_ path: String) throws {
    if !FileManager.default.fileExists(atPath: path) {
      throw ToolError(.noSuchFile, "there is no file \(path)", advice: "check the path")
    }
  }

  static func open(_ path: String, given: [GivenSchema]) throws -> DataFile {
    var configuration = SQLiteWorkspace.Configuration()
    configuration.isReadOnly = true
    configuration.leavesNoTrace = true
    // A log that is read without a `-shm` needs the file for one connection.
    configuration.readerLimit = 1
    let workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
    do {
      let tables = try withToolErrors { try workspace.inspect { try StoredTables($0) } }
      return DataFile(
        path: path, types: StoredType.all(in: tables, given: given), workspace: workspace)
    } catch {
      workspace.shutdown()
      throw error
    }
  }

  /// Closes the file. Waits for calls on other threads.
  public func close() { workspace.shutdown() }

  /// The type with a name: `Post`, `Blog.Post`, or the name of its table.
  /// - Throws: ``ToolError`` if there is none, or several.
  public func type(named name: String) throws -> StoredType {
    try StoredType.named(name, among: types, of: path)
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
    throw ToolError(
      .usage, "there is no type \(name) in \(path)",
      advice: suggestion(for: name, among: names)
        ?? (names.isEmpty
          ? "it has no objects of Dflat" : "there are \(names.joined(separator: ", "))"))
  }
}

extension StoredTables {
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
struct GivenSchema: Sendable {
  let path: String
  let types: CompiledTypes
  let root: QualifiedName
  let definition: TableDefinition
  let table: String

  /// - Throws: `ToolError` with the compiler's messages.
  init(path: String) throws {
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
    self.path = path
    types = CompiledTypes(schema)
    self.root = root
    self.definition = definition
    table = schema.tableName(of: root)
  }
}
