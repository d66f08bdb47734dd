// TrialSink: what a dry run does with rows.
//
//  - They are stored in a temporary file, beside copies of those objects of the target that they
//    can be in conflict with: the ones with their keys, and with their unique values. So a dry run
//    says what the import would say.
//  - The target is only read, and its writers do not wait.

import Dflat
import FlatBuffersRuntime
import Foundation

/// Stores rows in a temporary file.
final class TrialSink: ImportSink {
  private let store: (any DataStore)?
  private let entity: EntitySchema
  /// The type as the target has it; nil if it has no such objects.
  private let known: EntitySchema?
  private let problemLimit: Int
  private let directory: URL
  private let scratch: OpenTarget
  private let sink: StoringSink

  /// - Parameter store: The target; nil for a new file.
  init(_ store: (any DataStore)?, _ entity: EntitySchema, problemLimit: Int) throws {
    self.store = store
    self.entity = entity
    self.problemLimit = problemLimit
    known = store?.types.first { $0.table == entity.table }?.entity
    directory = FileManager.default.temporaryDirectory
      .appending(path: "dflat-dry-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    scratch = OpenTarget(.file(directory.appending(path: "objects.db").path))
    sink = StoringSink(scratch, entity, isOneTransaction: false)
  }

  func close() {
    sink.close()
    store?.close()
    try? FileManager.default.removeItem(at: directory)
  }

  func run(_ body: () throws -> Void) throws { try body() }

  func take(_ rows: [ImportedRow], _ report: inout ImportReport) throws -> [ImportProblem] {
    try copyStored(for: rows)
    var problems: [ImportProblem] = []
    var rest = rows[...]
    while problems.count < problemLimit,
      let problem = try sink.take(Array(rest), &report).first
    {
      problems.append(problem)
      rest = rest.drop { $0.line <= problem.line }
    }
    return problems
  }

  /// Copies the objects of the target that rows can be in conflict with. Those that were copied
  /// before stay as they are now.
  private func copyStored(for rows: [ImportedRow]) throws {
    guard let store, let known else { return }
    var copies: [Row] = []
    for row in rows {
      for stored in try conflicting(with: row.row, store, known)
      where try scratch.core.row(with: stored, of: known, as: entity) == nil {
        copies.append(stored.withBytes { Row(sound: $0) })
      }
    }
    if copies.isEmpty { return }
    _ = try scratch.write([entity]) { try $0.upsert(entity, copies, losingNothing: true) }
  }

  private func conflicting(
    with row: Row, _ store: any DataStore, _ known: EntitySchema
  ) throws -> [Row] {
    var found = try store.row(with: row, of: entity, as: known).map { [$0] } ?? []
    for index in entity.indexes where index.isUnique {
      guard let condition = row.read({ index.columns.sameValues(as: $0) }) else { continue }
      let owners = try store.core.fetch(Query(schema: known, condition: condition, limit: 1))
      if owners.count > 0 { found.append(owners[0]) }
    }
    return found
  }
}
