// StoredType: a type with a table in a file, and what is known of it.

package import Dflat
import DflatSchema
import Platform
package import SQLiteDflat

/// A type with a table in a file.
public struct StoredType: Sendable {
  /// Where the names of the fields come from.
  public enum Origin: Sendable, Hashable {
    /// From the schema in the file, written by this version of the library on this day.
    case kept(version: String, date: String)
    /// From a schema file.
    case file(String)
    /// Nothing is known but the bytes.
    case unknown
  }

  /// The name of the type, without namespace; of its table, if nothing else is known.
  public let name: String
  /// The name with its namespace. The schemas in files have namespaces in lower case.
  public let fullName: String
  /// The name of its table.
  public let table: String
  /// Where the names of the fields come from.
  public let origin: Origin
  /// Why the schema in the file cannot be used; nil if it can, or there is none.
  public let problem: String?
  /// The schemas in the file with which its rows were written.
  public let shapes: [Shape]
  /// nil if nothing is known but the bytes.
  package let entity: EntitySchema?
  /// The columns with the key.
  package let keyColumns: [String]

  /// A schema in the file.
  public struct Shape: Sendable, Hashable, Codable {
    /// The SHA-256 digest of the schema.
    public let digest: String
    /// The version of the library that wrote it.
    public let version: String
    /// When it was written, in UTC: `2026-11-27T17:08:22Z`.
    public let date: String
  }

  /// The dictionary's table, which is not shown as a type.
  static let dictionaryTable = "dictitem_v_dflat_internal__"

  /// The dictionary as a type, whose objects are the entries.
  static let dictionary = StoredType(
    name: "dictionary", fullName: "dictionary", table: dictionaryTable, origin: .unknown,
    problem: nil, shapes: [], entity: DictionaryItem.schema, keyColumns: [])

  /// The types of some tables, in the order of their names.
  package static func all(in tables: StoredTables, given: [GivenSchema]) -> [StoredType] {
    let registry = TypeRegistry()
    var sources: [String: TypeSource] = [:]
    for (table, _) in tables.mains where table != dictionaryTable {
      if let schema = given.last(where: { $0.table == table }) {
        sources[table] = TypeSource(schema)
      } else if let kept = TypeSource.fullest(tables.schemas[table] ?? []) {
        sources[table] = TypeSource(kept, table: table)
      }
    }
    let usable = sources.values.filter(\.isUsable)
    let known = Set(usable.map { $0.fullName.lowercased() })
    var referrers: [String: Set<String>] = [:]
    for source in usable {
      for reference in source.references where reference.rule != .nothing {
        referrers[reference.target, default: []].insert(source.fullName)
      }
    }
    let types = tables.mains.filter { $0.table != dictionaryTable }.map { table, keys in
      let shapes = (tables.schemas[table] ?? []).map {
        Shape(digest: $0.digest, version: $0.version, date: $0.date)
      }
      let source = sources[table]
      let entity = source?.entity(
        inTable: table, known: known,
        referrers: source.flatMap { referrers[$0.fullName.lowercased()] } ?? [], registry)
      if let source, let entity { registry.add(entity, named: source.fullName) }
      return StoredType(
        name: entity == nil ? table : source?.name ?? table,
        fullName: entity == nil ? table : source?.fullName ?? table, table: table,
        origin: entity == nil ? .unknown : source?.origin ?? .unknown,
        problem: source == nil ? tables.schemasProblem : source?.problem,
        shapes: shapes, entity: entity, keyColumns: keys)
    }
    return types.sorted { ($0.name, $0.table) < ($1.name, $1.table) }
  }

  /// The types of schemas that are given, whether or not anything was stored of them.
  package static func all(given: [GivenSchema]) -> [StoredType] {
    var tables = StoredTables()
    for table in Set(given.map(\.table)).sorted() { tables.add(main: table) }
    return all(in: tables, given: given)
  }

  /// The type in the schema language, so that dflatc compiles it to the same layout.
  ///
  /// Namespaces are in lower case if they come from the file: the name of the table has no other.
  /// Deprecated fields have made-up names, and the type `ubyte`, then.
  /// - Parameter includes: The files with the types that it refers to; nil to leave out its
  ///   references.
  /// - Throws: ``ToolError`` if nothing is known of the type but its bytes.
  public func schemaText(including includes: [String]? = nil) throws -> String {
    SchemaText.text(of: BinarySchema(try requireEntity()), including: includes)
  }

  /// The entity schema.
  /// - Throws: `ToolError` if nothing is known of the type but its bytes.
  package func requireEntity() throws -> EntitySchema {
    if let entity { return entity }
    throw ToolError(
      .usage, "there is no schema for the table \(table)\(problem.map { " (\($0))" } ?? "")",
      advice: "give one with --schema FILE.fbs")
  }
}

/// The entity schemas of a file by their full names in lower case.
final class TypeRegistry: Sendable {
  private let entities = Mutex<[String: EntitySchema]>([:])

  func add(_ entity: EntitySchema, named name: String) {
    entities.withLock { $0[name.lowercased()] = entity }
  }

  /// The entity with a name that is known to be there.
  func entity(named name: String) -> EntitySchema {
    guard let entity = entities.withLock({ $0[name.lowercased()] }) else {
      preconditionFailure("the type \(name) was looked up before all types were there")
    }
    return entity
  }
}
