// Four threads that change four types. The floor does the same work on one thread, in one
// transaction per type.
//
// SQLite has one writer at a time, so several threads cannot be faster than one; the ratio shows
// the cost of thread safety.

import Dflat
import Foundation
import SQLiteDflat

extension Case {
  static let threadsInsert = Case(
    id: "threads-insert", title: "4 threads insert 10,000 each, of 4 types", goal: 1.3,
    upstream: 4.5
  ) { fixture in
    // All threads have stored one object before the clock starts.
    let template = try fixture.threadTemplate(1)
    let samples = fixture.samples(fixture.few + 1)
    let docs = floorDocs(samples)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        ThreadType.all.forEach { $0.warmUp(store) }
        let fresh = Array(samples.dropFirst())
        let nanoseconds = time { onThreads { $0.insert(fresh, store) } }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.threadContents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writers = try floorWriters(path)
        let nanoseconds = try time {
          for writer in writers {
            try writer.transaction {
              for index in 1..<docs.count { try writer.insert(docs[index]) }
            }
          }
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.threadContents(path))
      }
    )
  }

  static let threadsDelete = Case(
    id: "threads-delete", title: "4 threads delete 10,000 each, of 4 types, fetch included",
    goal: 1.3, upstream: 3.4
  ) { fixture in
    let template = try fixture.threadTemplate(fixture.few)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        ThreadType.all.forEach { $0.warmUp(store) }
        let nanoseconds = time { onThreads { $0.deleteAll(store) } }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.threadContents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writers = try floorWriters(path)
        let nanoseconds = try time {
          for writer in writers {
            try writer.transaction {
              let list = try writer.fetchAll()
              for index in 0..<list.count { try writer.delete(list[index]) }
            }
          }
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.threadContents(path))
      }
    )
  }

  /// A writer for each table, on one connection, warmed up.
  private static func floorWriters(_ path: String) throws -> [FloorWriter] {
    let database = try FloorDatabase(path: path)
    return try ThreadType.all.map {
      let writer = try FloorWriter(database, table: $0.table)
      try writer.warmUp()
      return writer
    }
  }
}

/// Calls `work` with each type on a thread of its own, and waits for all.
private func onThreads(_ work: @escaping @Sendable (any ThreadWork) -> Void) {
  let ended = DispatchGroup()
  for type in ThreadType.all {
    ended.enter()
    Thread {
      work(type)
      ended.leave()
    }.start()
  }
  ended.wait()
}

/// The work of a thread on its type.
private protocol ThreadWork: Sendable {
  /// The type's table.
  var table: String { get }
  func warmUp(_ store: Store)
  func insert(_ samples: [Sample], _ store: Store)
  func deleteAll(_ store: Store)
}

/// A type of the thread cases, identified by its request.
private struct ThreadType<Request: SampleRequest>: ThreadWork {
  let table: String

  /// Fetches everything and changes the first object.
  func warmUp(_ store: Store) {
    store.write(Request.Element.self) { transaction in
      guard let doc = store.workspace.fetch(for: Request.Element.self).all().first,
        let request = Request.changeRequest(doc)
      else { return }
      request.priority += 1000
      request.tag = newTag
      try transaction.submit(request)
    }
  }

  func insert(_ samples: [Sample], _ store: Store) {
    store.write(Request.Element.self) { transaction in
      for sample in samples { try transaction.submit(Request.creation(sample)) }
    }
  }

  func deleteAll(_ store: Store) {
    store.write(Request.Element.self) { transaction in
      for doc in store.workspace.fetch(for: Request.Element.self).all() {
        guard let request = Request.deletionRequest(doc) else { continue }
        try transaction.submit(request)
      }
    }
  }
}

extension ThreadType where Request == ThreadDoc1ChangeRequest {
  static let all: [any ThreadWork] = [
    ThreadType<ThreadDoc1ChangeRequest>(table: "threaddoc1"),
    ThreadType<ThreadDoc2ChangeRequest>(table: "threaddoc2"),
    ThreadType<ThreadDoc3ChangeRequest>(table: "threaddoc3"),
    ThreadType<ThreadDoc4ChangeRequest>(table: "threaddoc4"),
  ]
}

extension Fixture {
  /// A file with the first `count` samples of each type. Must not be written.
  fileprivate func threadTemplate(_ count: Int) throws -> String {
    try template("threads-\(count)") { store in
      ThreadType.all.forEach { $0.insert(Array(samples(count)), store) }
    }
  }

  fileprivate func threadContents(_ path: String) throws -> Checksum {
    try contents(path, tables: ThreadType.all.map(\.table))
  }
}
