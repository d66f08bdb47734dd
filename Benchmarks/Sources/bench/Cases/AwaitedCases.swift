// One update after another, each awaited before the next, as in a request handler or after a button
// press.
//
// The floor is one thread with a transaction for each update. No checkpoint is included in either
// time: the log limit of Dflat's workspace is never reached, and the floor's statements are used
// directly, without its checkpoint policy.
//
// The cases that end with `-cpu` have the processor time of the whole process, all threads and the
// system's part included.

import Dflat
import Dispatch
import SQLiteDflat

extension Case {
  /// With the asynchronous `write`, from one task.
  static let txAwait = awaited(
    "tx-await", "one awaited write after another, each an update", allowance: 20,
    writeAwaited)
  static let txAwaitCPU = awaited(
    "tx-await-cpu", "processor time of an awaited write", allowance: 10, clock: .processor,
    writeAwaited)

  /// With the synchronous `write`, from one thread.
  static let txSync = awaited(
    "tx-sync", "one synchronous write after another, each an update", allowance: 8, writeHere)
  static let txSyncCPU = awaited(
    "tx-sync-cpu", "processor time of a synchronous write", allowance: 10, clock: .processor,
    writeHere)

  /// With `performChanges`, from one thread that waits for each completion handler.
  static let txWait = awaited(
    "tx-wait", "one performChanges after another, each waited for", allowance: 40, performWaiting)
  static let txWaitCPU = awaited(
    "tx-wait-cpu", "processor time of a performChanges that is waited for", allowance: 15,
    clock: .processor, performWaiting)

  private static func writeAwaited(_ store: Store, _ docs: [BenchDoc]) throws {
    try wait {
      for (number, doc) in docs.enumerated() {
        _ = try await store.workspace.write(BenchDoc.self) { transaction in
          try transaction.update(doc) { change($0, number) }
        }
      }
    }
  }

  private static func writeHere(_ store: Store, _ docs: [BenchDoc]) throws {
    for (number, doc) in docs.enumerated() {
      _ = try store.workspace.write(BenchDoc.self) { transaction in
        try transaction.update(doc) { change($0, number) }
      }
    }
  }

  private static func performWaiting(_ store: Store, _ docs: [BenchDoc]) throws {
    let done = DispatchSemaphore(value: 0)
    for (number, doc) in docs.enumerated() {
      store.update(doc, number) { done.signal() }
      done.wait()
    }
  }

  /// - Parameters:
  ///   - clock: What is measured.
  ///   - run: Updates the objects.
  private static func awaited(
    _ id: String, _ title: String, allowance: Double, clock: MeasuredClock = .wall,
    _ run: @escaping @Sendable (Store, [BenchDoc]) throws -> Void
  ) -> Case {
    Case(id: id, title: title, allowance: allowance) { fixture in
      let template = try fixture.template(fixture.few)
      let count = max(1, fixture.few / 5)
      return (
        ours: {
          let path = try fixture.copy(of: template)
          let store = Store(path, walLimit: Store.noCheckpoints)
          store.warmUp()
          let docs = Array(store.workspace.fetch(for: BenchDoc.self).all().prefix(count))
          let nanoseconds = try time(clock) { try run(store, docs) }
          try store.check()
          store.close()
          defer { fixture.discard(path) }
          return Outcome(
            nanoseconds: nanoseconds / UInt64(count), checksum: try fixture.contents(path))
        },
        floor: {
          let path = try fixture.copy(of: template)
          let writer = try FloorWriter(path)
          try writer.warmUp()
          let begin = try writer.database.prepare("BEGIN IMMEDIATE")
          let commit = try writer.database.prepare("COMMIT")
          let list = try writer.fetchAll()
          let nanoseconds = try time(clock) {
            for number in 0..<count {
              try begin.run()
              try writer.update(list[number], number)
              try commit.run()
            }
          }
          defer { fixture.discard(path) }
          return Outcome(
            nanoseconds: nanoseconds / UInt64(count), checksum: try fixture.contents(path))
        }
      )
    }
  }

  /// Runs a task, and blocks this thread until it ends.
  static func wait<R: Sendable>(
    _ body: @escaping @Sendable () async throws -> R
  ) throws -> R {
    let done = DispatchSemaphore(value: 0)
    let result = Waited<R>()
    Task.detached {
      do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
      done.signal()
    }
    done.wait()
    guard let value = result.value else { preconditionFailure("a task ended without a result") }
    return try value.get()
  }
}

/// The result of a task.
///
/// Unchecked: it is set before the semaphore is signalled, and read after the wait.
private final class Waited<R: Sendable>: @unchecked Sendable {
  var value: Result<R, any Error>?
}
