// Cases with several callers in one process, each of which waits for its transactions, which share
// commits. The floor is pgbench with as many clients, each with a connection of its own: it reads
// and updates an object in each transaction, also beside insertions.

import Dflat
import Dispatch
import Foundation
import PostgresDflat

extension Case {
  private static let callers = 16

  static let callersKeys = calling(
    "pg-callers-keys", "16 callers of one type, update(keys:) in each transaction; pgbench"
  ) { txn, counter in
    _ = try txn.update(Counter.self, keys: [counter.number]) { $0.count += 1 }
  }

  static let callersObject = calling(
    "pg-callers-object", "the same by update(object)"
  ) { txn, counter in
    try txn.update(counter) { $0.count += 1 }
  }

  static let callersInsert = calling("pg-callers-insert", "the same by insertions") {
    txn, counter in
    try txn.insert(Counter(number: -1 - counter.number, count: 1, text: counter.text))
  }

  private static func calling(
    _ id: String, _ title: String,
    _ change: @escaping @Sendable (WriteContext, Counter) throws -> Void
  ) -> Case {
    Case(id: id, title: title, goal: 2) { fixture in
      let count = fixture.few / 50
      return (
        ours: {
          let schema = try fixture.counters(callers * count)
          let store = Store(fixture.url, schema) { $0.sharesCommits = true }
          let counters = store.workspace.fetch(for: Counter.self).all().map { $0 }
          try store.workspace.write(Counter.self) {
            _ = try $0.update(Counter.self, keys: [0]) { $0.text = $0.text }
          }
          fixture.settle()
          let nanoseconds = time {
            let group = DispatchGroup()
            for caller in 0..<callers {
              group.enter()
              Task {
                for counter in counters[(caller * count)..<((caller + 1) * count)] {
                  do {
                    try await store.workspace.write(Counter.self) { try change($0, counter) }
                  } catch { store.fail(error) }
                }
                group.leave()
              }
            }
            group.wait()
          }
          try store.check()
          store.close()
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.checkSum(schema))
        },
        floor: {
          let schema = try fixture.counters(callers * count)
          fixture.settle()
          let nanoseconds = try PgBench.run(
            fixture.url, schema, objects: count, clients: callers, count: count)
          try fixture.remove(schema)
          return Outcome(nanoseconds: nanoseconds, checksum: Checksum(Int64(callers * count)))
        }
      )
    }
  }
}
