// The upload queue: order, failures, what survives, and what is shown.

import DflatTestSupport
import Foundation
import Platform
@testable import Silo
import Testing

private enum TaskUpload: Upload, Equatable {
  case update(String, Int)
  case delete(String)

  var orderingKey: String {
    switch self {
    case .update(let key, _), .delete(let key): key
    }
  }
}

/// An upload of another version of the program.
private enum OtherUpload: Upload {
  case rename(String)
  var orderingKey: String { "a" }
  static var queueName: String { TaskUpload.queueName }
}

private struct Offline: Error {}

/// What a server has got.
private final class Server: Sendable {
  let received = Mutex<[(upload: TaskUpload, key: UUID, attempt: Int)]>([])

  func receive(_ upload: TaskUpload, _ context: UploadContext) {
    received.withLock { $0.append((upload, context.key, context.attempt)) }
  }

  var uploads: [TaskUpload] { received.withLock { $0.map(\.upload) } }

  /// What was received for a key, in order.
  func numbers(_ key: String) -> [Int] {
    uploads.compactMap { if case .update(key, let number) = $0 { number } else { nil } }
  }
}

@Suite("Upload queue")
struct UploadTests {
  private let retry = UploadRetry.exponential(from: .milliseconds(1), to: .milliseconds(4))

  @Test(
    "Uploads of one key arrive in order, each once; those of others side by side",
    arguments: TestStores.all)
  func order(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let server = Server()
      for number in 0..<10 {
        try await silos.write { txn in
          for key in ["a", "b", "c"] { try txn.enqueue(TaskUpload.update(key, number)) }
        }
      }
      let together = Mutex((now: 0, most: 0))
      let queue = UploadQueue<TaskUpload>(in: silos, retry: retry)
      try await queue.run(concurrency: 2, until: .idle) { upload, context in
        together.withLock {
          $0.now += 1
          $0.most = max($0.most, $0.now)
        }
        await _Concurrency.Task.yield()
        server.receive(upload, context)
        together.withLock { $0.now -= 1 }
      }
      for key in ["a", "b", "c"] { #expect(server.numbers(key) == Array(0..<10)) }
      #expect(together.withLock { $0.most } <= 2)
      #expect(try await queue.statuses().isEmpty)
    }
  }

  @Test("An upload is enqueued with its transaction, or not at all", arguments: TestStores.all)
  func atomicity(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      await #expect(throws: Offline.self) {
        try await silos.write { txn in
          try txn.enqueue(TaskUpload.delete("a"))
          throw Offline()
        }
      }
      let left = try await UploadQueue<TaskUpload>(in: silos, retry: retry).statuses()
      #expect(left.isEmpty)
    }
  }

  @Test("A failing upload is repeated with its key, and later ones of its ordering key wait")
  func retries() async throws {
    let silos = Silos(.memory)
    let server = Server()
    try await silos.write { txn in
      try txn.enqueue(TaskUpload.update("a", 0))
      try txn.enqueue(TaskUpload.update("a", 1))
    }
    let queue = UploadQueue<TaskUpload>(in: silos, retry: retry)
    try await queue.run(until: .idle) { upload, context in
      server.receive(upload, context)
      if upload == .update("a", 0), context.attempt < 4 { throw Offline() }
    }
    let received = server.received.withLock { $0 }
    #expect(server.numbers("a") == [0, 0, 0, 0, 1])
    #expect(received.map(\.attempt) == [1, 2, 3, 4, 1])
    #expect(Set(received.prefix(4).map(\.key)).count == 1)
  }

  @Test("Attempts, pauses and keys outlive the queue")
  func survival() async throws {
    let silos = Silos(.memory)
    let key = try await silos.write { try $0.enqueue(TaskUpload.update("a", 0)) }
    let slow = UploadRetry.exponential(from: .seconds(3600), to: .seconds(3600))
    let first = UploadQueue<TaskUpload>(in: silos, retry: slow)
    let failed = Server()
    let run = _Concurrency.Task {
      try await first.run { upload, context in
        failed.receive(upload, context)
        throw Offline()
      }
    }
    for try await statuses in first.statusChanges() {
      if case .pausing? = statuses.first?.state { break }
    }
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }

    let second = UploadQueue<TaskUpload>(in: silos, retry: slow)
    let status = try #require(try await second.statuses().first)
    #expect(status.id == key && status.attempts == 1 && status.lastError == "Offline()")
    guard case .pausing(let until) = status.state else {
      Issue.record("\(status.state)")
      return
    }
    #expect(until > Date(timeIntervalSinceNow: 3000))
    #expect(try await second.retry(key))
    let server = Server()
    try await second.run(until: .idle) { server.receive($0, $1) }
    #expect(server.received.withLock { $0.map(\.key) } == [key])
    #expect(server.received.withLock { $0.map(\.attempt) } == [2])
  }

  @Test("An upload that is cancelled while it is sent is sent again, and has not failed")
  func cancelling() async throws {
    let silos = Silos(.memory)
    let key = try await silos.write { try $0.enqueue(TaskUpload.update("a", 0)) }
    let queue = UploadQueue<TaskUpload>(in: silos, retry: retry)
    let run = _Concurrency.Task {
      try await queue.run { _, _ in try await _Concurrency.Task.sleep(for: .seconds(3600)) }
    }
    for try await statuses in queue.statusChanges() where statuses.first?.state == .running {
      break
    }
    run.cancel()
    await #expect(throws: CancellationError.self) { try await run.value }
    let server = Server()
    try await queue.run(until: .idle) { server.receive($0, $1) }
    #expect(server.received.withLock { $0.map(\.key) } == [key])
    #expect(server.received.withLock { $0.map(\.attempt) } == [1])
  }

  @Test("Failures are dropped or parked as the program decides; parked ones by hand")
  func parking() async throws {
    let silos = Silos(.memory)
    try await silos.write { txn in
      try txn.enqueue(TaskUpload.delete("dropped"))
      try txn.enqueue(TaskUpload.update("parked", 0))
      try txn.enqueue(TaskUpload.update("parked", 1))
    }
    let queue = UploadQueue<TaskUpload>(
      in: silos, retry: retry,
      onFailure: { _, upload, _ in upload == .delete("dropped") ? .drop : .park })
    try await queue.run(until: .idle) { _, _ in throw Offline() }
    let statuses = try await queue.statuses()
    #expect(statuses.map(\.upload) == [.update("parked", 0), .update("parked", 1)])
    #expect(statuses.map(\.state) == [.parked, .waiting])
    #expect(try await queue.retry(statuses[0].id))
    #expect(try await queue.remove(statuses[1].id))
    #expect(try await !queue.remove(statuses[1].id))
    let server = Server()
    try await queue.run(until: .idle) { server.receive($0, $1) }
    #expect(server.uploads == [.update("parked", 0)])
  }

  @Test("An upload that cannot be decoded any more is parked and shown")
  func undecodable() async throws {
    let silos = Silos(.memory)
    try await silos.write { txn in
      try txn.enqueue(OtherUpload.rename("x"))
      try txn.enqueue(TaskUpload.update("b", 1))
    }
    let queue = UploadQueue<TaskUpload>(in: silos, retry: retry)
    let server = Server()
    try await queue.run(until: .idle) { server.receive($0, $1) }
    #expect(server.uploads == [.update("b", 1)])
    let status = try #require(try await queue.statuses().first)
    #expect(status.state == .parked && status.upload == nil)
    #expect(status.lastError?.contains("cannot be decoded") == true)
  }

  @Test("Waiting uploads of one key are coalesced, and never one that was sent")
  func coalescing() async throws {
    let silos = Silos(.memory)
    let server = Server()
    let queue = UploadQueue<TaskUpload>(
      in: silos, retry: retry, coalesce: { Array($0.suffix(1)) })
    for number in 0..<5 { try await silos.write { try $0.enqueue(TaskUpload.update("a", number)) } }
    try await silos.write { try $0.enqueue(TaskUpload.update("b", 7)) }
    try await queue.run(concurrency: 1, until: .idle) { upload, context in
      server.receive(upload, context)
      guard upload == .update("a", 4), context.attempt == 1 else { return }
      try await silos.write { txn in
        try txn.enqueue(TaskUpload.update("a", 5))
        try txn.enqueue(TaskUpload.update("a", 6))
      }
      throw Offline()
    }
    #expect(server.numbers("a") == [4, 4, 6])
    #expect(server.numbers("b") == [7])
  }

  @Test("An upload whose answer was never read keeps its key", arguments: TestStores.all)
  func unread(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let server = Server()
      try await silos.write { txn in _ = try txn.enqueue(TaskUpload.update("a", 1)) }
      func queue() -> UploadQueue<TaskUpload> {
        UploadQueue(in: silos, retry: retry) { Array($0.suffix(1)) }
      }
      // The server gets it, and the run ends before that is noted.
      let run = _Concurrency.Task {
        try await queue().run(until: .idle) { upload, context in
          server.receive(upload, context)
          try await _Concurrency.Task.sleep(for: .seconds(60))
        }
      }
      #expect(await inTime { !server.uploads.isEmpty })
      run.cancel()
      _ = await run.result
      try await silos.write { txn in _ = try txn.enqueue(TaskUpload.update("a", 2)) }
      try await queue().run(until: .idle) { server.receive($0, $1) }
      #expect(server.numbers("a") == [1, 1, 2])
      let keys = server.received.withLock { $0.map(\.key) }
      #expect(keys[0] == keys[1] && keys[1] != keys[2])
    }
  }

  @Test("Removed by hand while it is sent, an upload takes no later one with it")
  func removedWhileSent() async throws {
    let silos = Silos(.memory)
    let server = Server()
    let key = try await silos.write { txn in try txn.enqueue(TaskUpload.update("a", 1)) }
    let queue = UploadQueue<TaskUpload>(in: silos, retry: retry)
    try await queue.run(until: .idle) { upload, context in
      if server.uploads.isEmpty {
        try await queue.remove(key)
        try await silos.write { txn in _ = try txn.enqueue(TaskUpload.update("b", 2)) }
      }
      server.receive(upload, context)
    }
    #expect(server.uploads == [.update("a", 1), .update("b", 2)])
  }

  @Test("Keys that Swift takes for equal, and stores do not", .endsSometime)
  func spellings() async throws {
    let silos = Silos(.memory)
    let server = Server()
    try await silos.write { txn in
      for (number, key) in ["\u{E9}", "e\u{301}", "f"].enumerated() {
        try txn.enqueue(TaskUpload.update(key, number))
      }
    }
    try await UploadQueue<TaskUpload>(in: silos, retry: retry)
      .run(until: .idle) { server.receive($0, $1) }
    #expect(server.uploads.count == 3)
  }

  @Test("Pauses double up to the longest, and jitter stays in its bounds")
  func pauses() {
    let retry = UploadRetry.exponential(from: .seconds(1), to: .seconds(600), jitter: 0.2)
    #expect(
      [1, 2, 3, 10, 11, 100].map { retry.pause(after: $0, random: 0) }
        == [1, 2, 4, 512, 600, 600].map { .seconds($0) })
    #expect(retry.pause(after: 1, random: 1) == .milliseconds(1200))
    #expect(retry.pause(after: 1, random: -1) == .milliseconds(800))
  }

  @Test(
    "Runs share the keys of a queue, also with one that was cancelled", .endsSometime)
  func severalRuns() async throws {
    let silos = Silos(.memory)
    let server = Server()
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let (released, release) = AsyncStream<Void>.makeStream()
    try await silos.write { try $0.enqueue(TaskUpload.update("a", 0)) }
    let first = UploadQueue<TaskUpload>(in: silos, retry: retry)
    let run = _Concurrency.Task {
      try await first.run { upload, context in
        begin.yield()
        // It goes on although it is cancelled.
        await _Concurrency.Task.detached { for await _ in released { break } }.value
        server.receive(upload, context)
      }
    }
    for await _ in begun { break }
    run.cancel()
    try await silos.write { txn in
      try txn.enqueue(TaskUpload.update("a", 1))
      try txn.enqueue(TaskUpload.update("b", 0))
    }
    let second = UploadQueue<TaskUpload>(in: silos, retry: retry)
    #expect(try await second.statuses().map(\.state) == [.running, .waiting, .waiting])
    try await second.run(concurrency: 2, until: .idle) { upload, context in
      server.receive(upload, context)
      // Only now the other one ends.
      if case .update("b", _) = upload { release.yield() }
    }
    _ = await run.result
    #expect(server.uploads == [.update("b", 0), .update("a", 0), .update("a", 1)])
  }
}
