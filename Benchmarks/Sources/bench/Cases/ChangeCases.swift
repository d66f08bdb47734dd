// Updates and deletions of all objects, in one transaction: until the commit, and until the end of
// the checkpoint after it.

import Dflat
import SQLiteDflat

extension Case {
  static let updateBatch = Case(
    id: "update-batch", title: "update 10,000, one transaction, fetch included", goal: 1.4,
    upstream: 3.0, grdb: 6.5
  ) { fixture in
    let template = try fixture.template(fixture.few)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path, walLimit: fixture.walLimit)
        store.warmUp()
        let (nanoseconds, settled) = try timeToCommitAndSettle {
          let workspace = store.workspace
          store.write(BenchDoc.self) { transaction in
            for (number, doc) in workspace.fetch(for: BenchDoc.self).all().enumerated() {
              guard let request = BenchDocChangeRequest.changeRequest(doc) else { continue }
              change(request, number)
              try transaction.submit(request)
            }
          }
        } settle: {
          try store.awaitCheckpoint()
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(
          nanoseconds: nanoseconds, settledNanoseconds: settled,
          checksum: try fixture.contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writer = try FloorWriter(path, walLimit: fixture.walLimit)
        try writer.warmUp()
        let (nanoseconds, settled) = try timeToCommitAndSettle {
          try writer.transaction {
            let list = try writer.fetchAll()
            for number in 0..<list.count { try writer.update(list[number], number) }
          }
        } settle: {
          try writer.database.settle()
        }
        defer { fixture.discard(path) }
        return Outcome(
          nanoseconds: nanoseconds, settledNanoseconds: settled,
          checksum: try fixture.contents(path))
      }
    )
  }

  static let delete = Case(
    id: "delete-10k", title: "delete 10,000, one transaction, fetch included", goal: 1.3,
    upstream: 3.8, grdb: 4.7
  ) { fixture in
    let template = try fixture.template(fixture.few)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path, walLimit: fixture.walLimit)
        store.warmUp()
        let (nanoseconds, settled) = try timeToCommitAndSettle {
          let workspace = store.workspace
          store.write(BenchDoc.self) { transaction in
            for doc in workspace.fetch(for: BenchDoc.self).all() {
              guard let request = BenchDocChangeRequest.deletionRequest(doc) else { continue }
              try transaction.submit(request)
            }
          }
        } settle: {
          try store.awaitCheckpoint()
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(
          nanoseconds: nanoseconds, settledNanoseconds: settled,
          checksum: try fixture.contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writer = try FloorWriter(path, walLimit: fixture.walLimit)
        try writer.warmUp()
        let (nanoseconds, settled) = try timeToCommitAndSettle {
          try writer.transaction {
            let list = try writer.fetchAll()
            for number in 0..<list.count { try writer.delete(list[number]) }
          }
        } settle: {
          try writer.database.settle()
        }
        defer { fixture.discard(path) }
        return Outcome(
          nanoseconds: nanoseconds, settledNanoseconds: settled,
          checksum: try fixture.contents(path))
      }
    )
  }
}
