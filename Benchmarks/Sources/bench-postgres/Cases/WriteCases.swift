// Cases that write, in one process.

import Dflat
import Dispatch
import Foundation
import PostgresDflat

extension Case {
  /// The floor's objects are encoded from C values while they are sent. Both sides have inserted
  /// one object in the same way before.
  static let insert = insertion(
    "pg-insert-10k", "insert an array of 10,000, one transaction; COPY", goal: 1.3
  ) { store, samples in
    try store.insert(samples)
  } floor: {
    try $0.insertByCopy($1)
  }

  static let insertPipeline = insertion(
    "pg-insert-10k-pipeline", "the same; pipeline mode", goal: 1.3
  ) { store, samples in
    try store.insert(samples)
  } floor: {
    try $0.insertByPipeline($1)
  }

  /// Each call has an answer, so each needs a message to the server and back, on both sides.
  static let submit = insertion(
    "pg-submit-10k", "insert 10,000 one by one, one transaction; a call each"
  ) { store, samples in
    try store.workspace.write(BenchDoc.self) { transaction in
      for sample in samples { try transaction.insert(sample.object) }
    }
  } floor: { writer, docs in
    for index in docs.indices { try writer.insert(docs[index]) }
  }

  private static func insertion(
    _ id: String, _ title: String, goal: Double? = nil,
    ours: @escaping @Sendable (Store, [Sample]) throws -> Void,
    floor: @escaping @Sendable (FloorWriter, ArraySlice<FloorDoc>) throws -> Void
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let samples = fixture.samples(fixture.few + 41)
      let fresh = Array(samples[41...])
      let docs = floorDocs(samples)
      return (
        ours: {
          let schema = try fixture.schema { try $0.insert([samples[0]]) }
          let store = Store(fixture.url, schema)
          try ours(store, Array(samples[1..<41]))
          fixture.settle()
          let nanoseconds = try time { try ours(store, fresh) }
          try store.check()
          store.close()
          defer { try? fixture.remove(schema) }
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(schema))
        },
        floor: {
          let schema = try fixture.schema { try $0.insert([samples[0]]) }
          let writer = try FloorWriter(fixture.url, schema)
          try writer.transaction(nil) { try floor(writer, docs[1..<41]) }
          fixture.settle()
          let nanoseconds = try time {
            try writer.transaction(nil) { try floor(writer, docs[41...]) }
          }
          defer { try? fixture.remove(schema) }
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(schema))
        }
      )
    }
  }

  /// The floor reads all rows with one statement, and sends its updates in pipeline mode.
  static let updateWhere = Case(
    id: "pg-update-10k", title: "update all 10,000 of a condition, one transaction; pipeline mode"
  ) { fixture in
    let samples = fixture.samples(fixture.few)
    return (
      ours: {
        let schema = try fixture.schema { try $0.insert(samples) }
        let store = Store(fixture.url, schema)
        try store.workspace.write(BenchDoc.self) {
          _ = try $0.update(BenchDoc.self, keys: [samples[0].title]) { $0.color = $0.color }
        }
        fixture.settle()
        let nanoseconds = try time {
          try store.workspace.write(BenchDoc.self) {
            _ = try $0.update(where: BenchDoc.priority > 0) { $0.priority += 1000 }
          }
        }
        try store.check()
        store.close()
        defer { try? fixture.remove(schema) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(schema))
      },
      floor: {
        let schema = try fixture.schema { try $0.insert(samples) }
        let writer = try FloorWriter(fixture.url, schema)
        fixture.settle()
        _ = try writer.fetchAll()
        let nanoseconds = try time {
          try writer.transaction(nil) { try writer.updateByPipeline(try writer.fetchAll()) }
        }
        defer { try? fixture.remove(schema) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(schema))
      }
    )
  }

  /// Dflat's transactions share commits, which a workspace has to be told. The floor knows the row
  /// and makes a transaction for each, one after another.
  static let transactionEach = Case(
    id: "pg-tx-each", title: "update 10,000 in 10,000 transactions that nobody waits for",
    goal: 0.2,
    mostRuns: 3
  ) { fixture in
    let samples = fixture.samples(fixture.few)
    return (
      ours: {
        let schema = try fixture.schema { try $0.insert(samples) }
        let store = Store(fixture.url, schema) { $0.sharesCommits = true }
        try store.workspace.write(BenchDoc.self) {
          _ = try $0.update(BenchDoc.self, keys: [samples[0].title]) { $0.color = $0.color }
        }
        fixture.settle()
        let nanoseconds = time {
          let group = DispatchGroup()
          for title in samples.map(\.title) {
            group.enter()
            Task {
              do {
                try await store.workspace.write(BenchDoc.self) {
                  _ = try $0.update(BenchDoc.self, keys: [title]) { $0.priority += 1000 }
                }
              } catch { store.fail(error) }
              group.leave()
            }
          }
          group.wait()
        }
        try store.check()
        store.close()
        defer { try? fixture.remove(schema) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(schema))
      },
      floor: {
        let schema = try fixture.schema { try $0.insert(samples) }
        let writer = try FloorWriter(fixture.url, schema)
        let list = try writer.fetchAll()
        fixture.settle()
        let nanoseconds = try time {
          for index in 0..<list.count {
            try writer.transaction([list[index].id]) { try writer.update(list[index]) }
          }
        }
        defer { try? fixture.remove(schema) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(schema))
      }
    )
  }
}
