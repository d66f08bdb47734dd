// What a check of a whole file or database looks at, and how it says how far it is.

/// What a check of a whole file or database looks at.
public struct CheckOptions: Sendable {
  /// How many findings are reported at most; less than 1 counts as 1. The check ends when there are
  /// so many.
  public var findingLimit = 100
  /// Whether the keys in references are looked up.
  public var checksReferences = true
  /// Called now and then with how far the check is, on the thread of the check, which waits.
  public var onProgress: (@Sendable (CheckProgress) -> Void)?
  /// The types to check.
  package private(set) var schemas: [EntitySchema] = []

  /// Checks the types that the workspace has used since it was opened.
  public init() {}

  /// Checks these types as well.
  public init<each Element: Atom>(of types: repeat (each Element).Type) {
    for type in repeat each types { schemas.append(type._schema) }
  }
}

/// How far a check is.
public struct CheckProgress: Sendable, Equatable {
  /// The table whose rows are read; nil while the structure of the whole is checked.
  public let table: String?
  /// How many rows of it were checked.
  public let rows: Int
  /// How many there are at most; on a server, how many it estimates.
  public let total: Int

  /// For engines.
  package init(table: String?, rows: Int, total: Int) {
    self.table = table
    self.rows = rows
    self.total = total
  }
}
