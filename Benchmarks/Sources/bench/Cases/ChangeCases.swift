// Updates and deletions.
//
// The floor of each does with the fewest calls what a program wants done. It does not look an object up again before it
// changes it, as Dflat's contract demands of `changeRequest` and `deletionRequest`; what that costs is part of the ratio.
// Rows are decoded into C values, changed, and encoded anew.

import Dflat
import Dispatch
import SQLiteDflat

/// What the update cases change: the priority, and in every third object the tag.
private func change(_ request: BenchDocChangeRequest, _ number: Int) {
  request.priority += 1000
  if number % 3 == 0 { request.tag = newTag }
}

private let newTag = "a tag that was changed by the benchmark"
private let newTagBytes: StaticString = "a tag that was changed by the benchmark"

extension Case {
  static let updateBatch = Case(
    id: "update-batch", title: "update 10,000, one transaction, fetch included", goal: 1.4,
    upstream: 3.0, grdb: 6.5
  ) { fixture in
    let template = try fixture.template(fixture.few)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        store.warmUp()
        let nanoseconds = time {
          let workspace = store.workspace
          store.write(BenchDoc.self) { transaction in
            for (number, doc) in workspace.fetch(for: BenchDoc.self).all().enumerated() {
              guard let request = BenchDocChangeRequest.changeRequest(doc) else { continue }
              change(request, number)
              try transaction.submit(request)
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
        let writer = try FloorWriter(path)
        try writer.warmUp()
        let nanoseconds = try time {
          try writer.begin.run()
          var list = FloorList()
          try writer.select.fetchAll(into: &list)
          for number in 0..<list.count { try writer.update(list[number], number) }
          try writer.commit.run()
          try writer.database.checkpointIfDue()
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
      }
    )
  }

  /// All transactions are issued without waiting for one another. The floor has a COMMIT for each.
  static let updateEach = Case(
    id: "update-each", title: "update 10,000 in 10,000 transactions", goal: 1.5, upstream: 2.3,
    grdb: 2.3
  ) { fixture in
    let template = try fixture.template(fixture.few)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        store.warmUp()
        let docs = store.workspace.fetch(for: BenchDoc.self).all()
        let done = DispatchSemaphore(value: 0)
        let nanoseconds = time {
          let last = docs.count - 1
          for (number, doc) in docs.enumerated() {
            store.workspace.performChanges([BenchDoc.self]) { transaction in
              guard let request = BenchDocChangeRequest.changeRequest(doc) else { return }
              change(request, number)
              do { try transaction.submit(request) } catch { store.fail(error) }
            } completionHandler: { _ in
              // Completions of a type come in order: after the last one all are committed.
              if number == last { done.signal() }
            }
          }
          done.wait()
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writer = try FloorWriter(path)
        try writer.warmUp()
        var list = FloorList()
        try writer.select.fetchAll(into: &list)
        let nanoseconds = try time {
          for number in 0..<list.count {
            try writer.begin.run()
            try writer.update(list[number], number)
            try writer.commit.run()
            try writer.database.checkpointIfDue()
          }
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
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
        let store = Store(path)
        store.warmUp()
        let nanoseconds = time {
          let workspace = store.workspace
          store.write(BenchDoc.self) { transaction in
            for doc in workspace.fetch(for: BenchDoc.self).all() {
              guard let request = BenchDocChangeRequest.deletionRequest(doc) else { continue }
              try transaction.submit(request)
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
        let writer = try FloorWriter(path)
        try writer.warmUp()
        let nanoseconds = try time {
          try writer.begin.run()
          var list = FloorList()
          try writer.select.fetchAll(into: &list)
          for number in 0..<list.count {
            writer.delete.bind(1, list[number].id)
            try writer.delete.run()
          }
          try writer.commit.run()
          try writer.database.checkpointIfDue()
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
      }
    )
  }
}

extension Store {
  /// Opens the writer and a reader and touches every page, with a change to the first object.
  fileprivate func warmUp() {
    let workspace = workspace
    write(BenchDoc.self) { transaction in
      guard let doc = workspace.fetch(for: BenchDoc.self).all().first,
        let request = BenchDocChangeRequest.changeRequest(doc)
      else { return }
      change(request, 0)
      try transaction.submit(request)
    }
  }
}

/// The floor's writing connection and its statements.
private final class FloorWriter {
  let database: FloorDatabase
  let begin: FloorStatement
  let commit: FloorStatement
  let select: FloorStatement
  let delete: FloorStatement
  private let change: FloorStatement
  private var encoder = FloorEncoder()
  private let images = UnsafeMutablePointer<FloorBytes>.allocate(capacity: 16)

  init(_ path: String) throws {
    database = try FloorDatabase(path: path)
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    select = try database.prepare("SELECT rowid, p FROM benchdoc ORDER BY rowid")
    change = try database.prepare("UPDATE benchdoc SET p = ?1 WHERE rowid = ?2")
    delete = try database.prepare("DELETE FROM benchdoc WHERE rowid = ?")
  }

  deinit {
    encoder.free()
    images.deallocate()
  }

  /// What `Store.warmUp` does.
  func warmUp() throws {
    try begin.run()
    var list = FloorList()
    try select.fetchAll(into: &list)
    try update(list[0], 0)
    try commit.run()
  }

  @inline(__always)
  func update(_ row: FloorRow, _ number: Int) throws {
    var doc = row.reader.doc(images: images)
    doc.priority += 1000
    if number % 3 == 0 {
      doc.tag = FloorBytes(
        start: UnsafeRawPointer(newTagBytes.utf8Start), count: newTagBytes.utf8CodeUnitCount)
    }
    change.bind(1, blob: encoder.encode(doc))
    change.bind(2, row.id)
    try change.run()
  }
}
