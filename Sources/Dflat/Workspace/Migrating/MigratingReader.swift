// MigratingReader: a view of a type that is migrated when it is used, outside of transactions.

/// Reads objects that are migrated already and objects that are not. Everything is answered from
/// the rows of queries.
final class MigratingReader: StorageReader {
  private let core: WorkspaceCore
  private let plan: MigrationPlan

  init(_ core: WorkspaceCore, _ plan: MigrationPlan) {
    self.core = core
    self.plan = plan
  }

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    try core.fetch(query, migratedBy: plan)
  }

  func explain(_ query: Query) throws -> QueryExplanation { try core.explain(query) }

  // Objects that are not migrated have no row ids of the new type yet.

  func row(of schema: EntitySchema, id: Int64) throws -> Row? { throw Self.noSingleRows }
  func row(of schema: EntitySchema, keyOf row: Row) throws -> Row? { throw Self.noSingleRows }
  func rows(of schema: EntitySchema, after id: Int64, limit: Int) throws -> RowBuffer {
    throw Self.noSingleRows
  }
  func lastID(of schema: EntitySchema) throws -> Int64? { throw Self.noSingleRows }

  private static let noSingleRows = StorageError(
    .other, message: "rows of a type that is being migrated cannot be read by their ids")
}
