// What a file has: types, indexes, pages, and hazards.

/// What a file has, as ``DataFile/information(countingAll:)`` finds it.
///
/// It is encoded with the names of its properties. These do not change; more may be added.
public struct FileInformation: StoreInformation {
  /// The path as it was given.
  public let path: String
  /// The size of the file in bytes, without its log.
  public let bytes: Int
  /// The size of the write-ahead log beside it in bytes; 0 if there is none.
  public let logBytes: Int
  /// The size of a page in bytes.
  public let pageBytes: Int
  /// The number of pages.
  public let pages: Int
  /// The number of pages that nothing uses.
  public let freePages: Int
  /// `wal`, `delete` and so on.
  public let journalMode: String
  /// `none`, `full` or `incremental`.
  public let autoVacuum: String
  /// The version of the SQLite that runs here.
  public let sqliteVersion: String
  /// The version of this library.
  public let libraryVersion: String
  /// The types with a table, in the order of their names.
  public let types: [TypeInformation]
  /// The number of entries of the dictionary.
  public let dictionaryEntries: Int
  /// Tables of other programs.
  public let otherTables: [String]
  /// What may lose data, or makes the file slow: a sentence each.
  public let hazards: [String]
}

/// What a file has of a type.
public struct TypeInformation: Sendable, Encodable {
  /// The name of the type, or of its table.
  public let name: String
  /// The name with its namespace.
  public let fullName: String
  /// The name of its table.
  public let table: String
  /// The number of objects; the greatest row id, which is at least that, if they were not counted.
  public let rows: Int
  /// Whether the objects were counted.
  public let rowsAreCounted: Bool
  /// Where the names of fields come from: `kept`, `file` or `unknown`.
  public let names: String
  /// Why the schema in the file cannot be used; nil if it can, or there is none.
  public let problem: String?
  /// The schemas with which the rows were written, the newest first.
  public let shapes: [StoredType.Shape]
  /// The indexes that the schema asks for.
  public let indexes: [IndexInformation]

  init(
    name: String, fullName: String, table: String, rows: Int, rowsAreCounted: Bool, names: String,
    problem: String?, shapes: [StoredType.Shape], indexes: [IndexInformation]
  ) {
    self.name = name
    self.fullName = fullName
    self.table = table
    self.rows = rows
    self.rowsAreCounted = rowsAreCounted
    self.names = names
    self.problem = problem
    self.shapes = shapes
    self.indexes = indexes
  }

  /// - Parameter state: The state of each index, by its position in the schema.
  package init(
    _ type: StoredType, rows: Int, areCounted: Bool,
    state: (_ place: Int) -> IndexInformation.State
  ) {
    let names =
      switch type.origin {
      case .kept: "kept"
      case .file: "file"
      case .unknown: "unknown"
      }
    self.init(
      name: type.name, fullName: type.fullName, table: type.table, rows: rows,
      rowsAreCounted: areCounted, names: names, problem: type.problem, shapes: type.shapes,
      indexes: (type.entity?.indexes ?? []).enumerated().map { place, index in
        IndexInformation(
          fields: type.entity?.fieldNames(ofIndex: index.table) ?? index.table,
          table: index.table, isUnique: index.isUnique, state: state(place))
      })
  }
}

/// What a file has of an index.
public struct IndexInformation: Sendable, Encodable {
  /// How much of the objects an index covers.
  public enum State: String, Sendable, Encodable {
    /// All objects.
    case complete
    /// The objects with the least row ids. The first query that wants it goes on building it.
    case partial
    /// None: the first query that wants it builds it.
    case missing
  }

  /// The names of its fields: `likes`, `archived, title nocase`.
  public let fields: String
  /// The name of its table.
  public let table: String
  /// Whether no two objects have the same values.
  public let isUnique: Bool
  /// How much of the objects it covers.
  public let state: State
}
