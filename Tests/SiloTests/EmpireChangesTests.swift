// Changes of values in LMDB whose records cannot be observed.

import Dispatch
import DflatTestSupport
import Empire
import EmpireSilo
import Foundation
import Silo
import Testing

struct EmpireChangesTests {
  @Test(
    "If the records cannot be observed, the changes end and the error is reported", .endsSometime)
  func failingSubscription() async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = Store(database: try LockingDatabase(path: directory.path, maxReaders: 2))
    let errors = ReportedErrors()
    let letters = Silos(EmpireValueStore<Letter>(store) { errors.add($0) })[Letter.self]
    // The first use has to migrate, which waits for this transaction.
    let (writes, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      try? store.withTransaction { _ in
        writes.signal()
        mayEnd.wait()
      }
    }.start()
    await Self.wait(writes)
    let changes = letters.changes()
    // Meanwhile, others take the slots of all readers.
    let (reads, mayStop) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for _ in 0..<2 {
      Thread {
        try? store.withTransaction(readOnly: true) { _ in
          reads.signal()
          mayStop.wait()
        }
      }.start()
      await Self.wait(reads)
    }
    mayEnd.signal()
    for await _ in changes { Issue.record("a change") }
    #expect(errors.takeAll().compactMap { $0 as? MDBError } == [.readersFull])
    for _ in 0..<2 { mayStop.signal() }
  }

  private static func wait(_ semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      Thread {
        semaphore.wait()
        continuation.resume()
      }.start()
    }
  }
}
