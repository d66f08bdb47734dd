// MigratingReader: a view of a type that is migrated when it is used, outside of transactions.

/// Reads objects that are migrated already and objects that are not, in one state. Everything is
/// answered from the rows of queries.
final class MigratingReader: StorageReader {
  private let plan: MigrationPlan
  private let state: any StorageReader
  private let core: WorkspaceCore

  /// - Parameters:
  ///   - plan: The migration of the type.
  ///   - state: A view of one state, which has the old objects and the new ones.
  ///   - core: The workspace, which begins the migration in steps if there are old objects.
  init(_ plan: MigrationPlan, over state: any StorageReader, in core: WorkspaceCore) {
    self.plan = plan
    self.state = state
    self.core = core
  }

  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    switch request {
    case .query(let query): try rows(query, mark: mark)
    case .key(let schema, let key): try rows(Query(schema, key), mark: mark)
    case .keys(let schema, let keys): try rows(of: schema, oneByOne: keys, mark: mark)
    // Objects that are not migrated have no row ids of the new type yet.
    case .keyOf, .id, .ids, .after: throw Self.noSingleRows
    }
  }

  private func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    try plan.rows(
      query, in: state, mark: mark,
      wanted: { if core.engine.capabilities.isWritable { core.wantMigration(plan) } },
      report: { core.report($0) })
  }

  func explain(_ query: Query) throws -> QueryExplanation { try plan.explain(query, in: state) }

  private static let noSingleRows = StorageError(
    .other, message: "rows of a type that is being migrated cannot be read by their ids")
}
