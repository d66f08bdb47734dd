// Updates and deletions of objects that a program has held for a while: three transactions have
// changed others of the type since they were fetched, and the workspace had written nothing before.
//
// The floor changes the rows that it has read, without looking whether they are still the same.

import Dflat
import SQLiteDflat

extension Case {
  static let updateStale = stale(
    "update-stale", "update 10,000 that were fetched before three commits of their type", goal: 1.3
  ) { workspace, doc, number, transaction in
    guard let request = BenchDocChangeRequest.changeRequest(doc) else { return }
    change(request, number)
    try transaction.submit(request)
  } floor: { writer, row, number in
    try writer.update(row, number)
  }

  static let deleteStale = stale(
    "delete-stale", "delete 10,000 that were fetched before three commits of their type", goal: 1.25
  ) { workspace, doc, number, transaction in
    guard let request = BenchDocChangeRequest.deletionRequest(doc) else { return }
    try transaction.submit(request)
  } floor: { writer, row, number in
    try writer.delete(row)
  }

  private static func stale(
    _ id: String, _ title: String, goal: Double,
    ours:
      @escaping @Sendable (SQLiteWorkspace, BenchDoc, Int, any TransactionContext) throws ->
      Void,
    floor: @escaping @Sendable (FloorWriter, FloorRow, Int) throws -> Void
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let template = try fixture.template(fixture.few)
      return (
        ours: {
          let path = try fixture.copy(of: template)
          let store = Store(path, walLimit: Store.noCheckpoints)
          let workspace = store.workspace
          let docs = workspace.fetch(for: BenchDoc.self).all()
          for number in 0..<3 {
            store.write(BenchDoc.self) { transaction in
              guard let request = BenchDocChangeRequest.changeRequest(docs[number]) else { return }
              change(request, number)
              try transaction.submit(request)
              // The writer's pages are in its cache, as the floor's are.
              _ = workspace.fetch(for: BenchDoc.self).all()
            }
          }
          let nanoseconds = time {
            store.write(BenchDoc.self) { transaction in
              for number in 3..<docs.count {
                try ours(workspace, docs[number], number, transaction)
              }
            }
          }
          try store.check()
          store.close()
          defer { fixture.discard(path) }
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
        },
        floor: {
          let path = try fixture.copy(of: template)
          let writer = try FloorWriter(path, walLimit: Store.noCheckpoints)
          let list = try writer.fetchAll()
          for number in 0..<3 {
            try writer.transaction { try writer.update(list[number], number) }
          }
          let nanoseconds = try time {
            try writer.transaction {
              for number in 3..<list.count { try floor(writer, list[number], number) }
            }
          }
          defer { fixture.discard(path) }
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
        }
      )
    }
  }
}
