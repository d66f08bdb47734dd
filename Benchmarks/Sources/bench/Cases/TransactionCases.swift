// Transactions with one change each: many that are issued without waiting, and single ones in an
// idle workspace.
//
// The floor has a COMMIT for each.

import Dflat
import Dispatch
import Foundation
import SQLiteDflat
import Synchronization

extension Case {
  static let updateEach = eachUpdate("update-each", goal: 1.5, upstream: 2.3, grdb: 2.3)
  static let txEachNormal = eachUpdate("tx-each-normal", goal: 0.35, upstream: 2.3)
  /// Each of the floor's commits waits for the disk, so a run takes long.
  static let txEachFull = eachUpdate("tx-each-full", isFull: true, goal: 0.05, mostRuns: 2)

  private static func eachUpdate(
    _ id: String, isFull: Bool = false, goal: Double, upstream: Double? = nil,
    grdb: Double? = nil, mostRuns: Int? = nil
  ) -> Case {
    Case(
      id: id,
      title: "update 10,000 in 10,000 transactions" + (isFull ? ", each on the disk" : ""),
      goal: goal, upstream: upstream, grdb: grdb, mostRuns: mostRuns
    ) { fixture in
      let template = try fixture.template(fixture.few)
      return (
        ours: {
          let path = try fixture.copy(of: template, onDisk: isFull)
          let store = Store(path, synchronous: isFull ? .full : .normal)
          store.warmUp()
          let docs = store.workspace.fetch(for: BenchDoc.self).all()
          let done = DispatchSemaphore(value: 0)
          let nanoseconds = time {
            let last = docs.count - 1
            for (number, doc) in docs.enumerated() {
              store.update(doc, number) {
                // Completions of a type are in order: after the last one all are committed.
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
          let path = try fixture.copy(of: template, onDisk: isFull)
          let writer = try FloorWriter(path, isFull: isFull)
          try writer.warmUp()
          let list = try writer.fetchAll()
          let nanoseconds = try time {
            for number in 0..<list.count {
              try writer.transaction { try writer.update(list[number], number) }
            }
          }
          defer { fixture.discard(path) }
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
        }
      )
    }
  }

  /// From the call to the completion handler's first line, the median of many. Before each call the
  /// thread sleeps for half a millisecond, on both sides, so that no thread is still awake from the
  /// previous one.
  static let txLatency = Case(
    id: "tx-latency", title: "one transaction in an idle workspace", allowance: 40,
    whyNotCounted: "it is about waking a thread"
  ) { fixture in
    let template = try fixture.template(fixture.few)
    let count = max(1, fixture.few / 20)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        store.warmUp()
        let docs = store.workspace.fetch(for: BenchDoc.self).all()
        let done = DispatchSemaphore(value: 0)
        let end = Mutex(ContinuousClock.now)
        var times: [Double] = []
        for number in 0..<count {
          rest()
          let start = ContinuousClock.now
          store.update(docs[number], number) {
            end.withLock { $0 = .now }
            done.signal()
          }
          done.wait()
          times.append(Double(nanoseconds(end.withLock { $0 } - start)))
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: UInt64(median(times)), checksum: try fixture.contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writer = try FloorWriter(path)
        try writer.warmUp()
        let list = try writer.fetchAll()
        var times: [Double] = []
        for number in 0..<count {
          rest()
          times.append(
            Double(
              try time { try writer.transaction { try writer.update(list[number], number) } }))
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: UInt64(median(times)), checksum: try fixture.contents(path))
      }
    )
  }

  private static func rest() { Thread.sleep(forTimeInterval: 0.000_5) }
}

extension Store {
  /// Updates an object in a transaction of its own, without waiting for it.
  func update(_ doc: BenchDoc, _ number: Int, _ completion: @escaping @Sendable () -> Void) {
    workspace.performChanges([BenchDoc.self]) { [self] transaction in
      guard let request = BenchDocChangeRequest.changeRequest(doc) else { return }
      change(request, number)
      do { try transaction.submit(request) } catch { fail(error) }
    } completionHandler: { _ in
      completion()
    }
  }
}
