// UploadQueue: sends uploads to a server, each at least once.
//
// An upload is enqueued in the transaction of the change that it is about, and removed when the
// server has answered. What is sent again after a crash has the same idempotency key. Invariants:
//
//  - Of the uploads with one ordering key only the oldest is ever sent, by one run at a time.
//  - What is written about an upload (its failure, its end) is written even if the queue is
//    cancelled in the meantime.
//
// Which uploads are running is known to the process only. One process at a time runs a queue.

public import Foundation
import Platform

/// Sends uploads to a server.
///
///     let uploads = UploadQueue<TaskUpload>(
///       in: silos, retry: .exponential(from: .seconds(1), to: .minutes(10), jitter: 0.2))
///     try await uploads.run(concurrency: 4) { upload, context in
///       try await api.send(upload, idempotencyKey: context.key)
///     }
///
/// See <doc:OfflineFirst>.
public final class UploadQueue<U: Upload>: Sendable {
  /// When a run ends by itself.
  public enum End: Sendable {
    /// Never: it waits for new uploads until its task is cancelled.
    case never
    /// When no upload is left that could be sent now or after a pause.
    case idle
  }

  private let silos: Silos
  private let retry: UploadRetry
  private let failure: @Sendable (any Error, U, UploadContext) -> UploadFailure
  private let coalesce: (@Sendable ([U]) -> [U])?
  private let runs: UploadRuns
  private var signal: UploadSignal { runs.signal }

  /// A queue. All queues with the name of the upload's type are the same queue.
  ///
  /// - Parameters:
  ///   - silos: The silos in whose transactions uploads are enqueued.
  ///   - retry: How long an upload pauses after a failure.
  ///   - coalesce: Replaces uploads of one key, oldest first, that wait and were never sent, by fewer
  ///     ones with the same effect.
  ///   - failure: What to do after an error of the closure that sends.
  public init(
    in silos: Silos, retry: UploadRetry, coalesce: (@Sendable (_ waiting: [U]) -> [U])? = nil,
    onFailure failure:
      @escaping @Sendable (_ error: any Error, _ upload: U, _ context: UploadContext)
      -> UploadFailure = { _, _, _ in .retry }
  ) {
    self.silos = silos
    self.retry = retry
    self.coalesce = coalesce
    self.failure = failure
    runs = silos.uploadRuns(of: U.self)
  }

  private var store: Silo<StoredUpload> { silos[StoredUpload.self] }

  // MARK: Running

  /// Sends uploads until the task is cancelled, or until the queue is idle.
  ///
  /// Cancelling stops between uploads: an upload that is being sent is cancelled, and sent again with
  /// its key by the next run.
  ///
  /// - Parameters:
  ///   - concurrency: How many uploads are sent side by side at most.
  ///   - end: When the run ends by itself.
  ///   - send: Sends an upload. When it returns, the upload is done; when it throws, `onFailure`
  ///     decides.
  /// - Throws: `CancellationError` if the task was cancelled; the errors of the storage.
  public func run(
    concurrency: Int = 4, until end: End = .never,
    _ send: @escaping @Sendable (_ upload: U, _ context: UploadContext) async throws -> Void
  ) async throws {
    precondition(concurrency > 0, "run(concurrency:) was called with \(concurrency)")
    // Wakes the run when something is enqueued, retried or done.
    // The observation begins here, before the first look at what waits.
    let changes = store.changes(where: StoredUpload.queue == U.queueName)
    let signal = signal
    let wakeUps = Task { for await _ in changes { signal.raise() } }
    defer { wakeUps.cancel() }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      var sending = 0
      while true {
        try Task.checkCancellation()
        let seen = signal.count
        let (busy, claims) = runs.claimed
        let (ready, next) = try await pick(concurrency - sending, besides: busy)
        // Another run has taken some meanwhile.
        guard runs.claim(ready.map(\.orderingKey), at: claims) else { continue }
        for upload in ready {
          sending += 1
          group.addTask { [self] in
            defer { runs.release(upload.orderingKey) }
            try await attempt(upload, send)
            return true
          }
        }
        if sending == 0, busy.isEmpty, next == nil, case .idle = end { return group.cancelAll() }
        // Waits for the end of an upload, a new one, or the end of a pause.
        if sending == concurrency {
          if try await group.next() == true { sending -= 1 }
        } else if ready.isEmpty {
          let time = nextLook(next)
          group.addTask { [signal] in
            await signal.wait(after: seen, until: time)
            return false
          }
          if try await group.next() == true { sending -= 1 }
        }
      }
    }
  }

  /// When the uploads are looked at again, if nothing is heard of them: what other processes enqueue
  /// is not heard of.
  private func nextLook(_ next: Date?) -> Date? {
    guard store.store.domain.isShared else { return next }
    let look = Date(timeIntervalSinceNow: 2)
    return min(next ?? look, look)
  }

  /// The uploads that may be sent now: the oldest of each key, unless it pauses or is parked.
  /// - Returns: The uploads, and when the next pause ends, if there is one.
  private func pick(
    _ count: Int, besides busy: Set<String>
  ) async throws -> (ready: [StoredUpload], next: Date?) {
    var ready: [StoredUpload] = []
    var blocked = busy
    // Every spelling of a key: stores compare bytes, Swift compares characters.
    var excluded = Array(busy)
    var next: Date?
    var limit = count
    while ready.count < count {
      let batch = try await store.values(
        where: StoredUpload.queue == U.queueName && StoredUpload.orderingKey.notIn(excluded),
        orderBy: [StoredUpload.id.ascending], limit: limit)
      if batch.isEmpty { break }
      limit = min(limit * 2, 1000)
      for upload in batch {
        excluded.append(upload.orderingKey)
        guard blocked.insert(upload.orderingKey).inserted else { continue }
        if upload.isParked { continue }
        if let time = upload.nextAttempt, time > Date() {
          next = min(next ?? time, time)
        } else if ready.count < count {
          ready.append(upload)
        }
      }
    }
    return (ready, next)
  }

  /// Sends one upload, and writes down what came of it.
  private func attempt(
    _ stored: StoredUpload, _ send: @Sendable (U, UploadContext) async throws -> Void
  ) async throws {
    guard let stored = try await coalesced(stored) else { return }
    let upload: U
    do { upload = try JSONDecoder().decode(U.self, from: stored.payload) } catch {
      return try await update(stored) {
        $0.isParked = true
        $0.lastError = "the upload cannot be decoded: \(error)"
      }
    }
    let context = UploadContext(key: stored.key, attempt: min(stored.attempts, .max - 1) + 1)
    runs.begin(stored.key)
    defer { runs.end(stored.key) }
    do {
      try await send(upload, context)
    } catch {
      // What was cancelled is sent again; it has not failed.
      if Task.isCancelled { throw CancellationError() }
      switch failure(error, upload, context) {
      case .drop: return try await remove(stored)
      case .park:
        return try await update(stored) {
          $0.attempts = context.attempt
          $0.isParked = true
          $0.lastError = "\(error)"
        }
      case .retry:
        let pause = retry.pause(after: context.attempt, random: .random(in: -1...1))
        return try await update(stored) {
          $0.attempts = context.attempt
          $0.nextAttempt = Date(timeIntervalSinceNow: pause / .seconds(1))
          $0.lastError = "\(error)"
        }
      }
    }
    try await remove(stored)
  }

  // MARK: Writing

  /// Runs a transaction that is not cancelled with this task.
  private func write<R: Sendable>(
    _ body: @escaping @Sendable (SilosTransaction) throws -> R
  ) async throws -> R {
    let silos = silos
    return try await Task.detached { try await silos.write(only: StoredUpload.self, body) }.value
  }

  private func remove(_ upload: StoredUpload) async throws {
    try await write { txn in
      // It may have been removed by hand, and its id be that of another one.
      guard let stored = try txn[StoredUpload.self].load(upload.id), stored.key == upload.key
      else { return }
      try txn.removeUploads([stored])
    }
  }

  /// Changes an upload, unless it was removed by hand in the meantime.
  private func update(
    _ upload: StoredUpload, _ change: @escaping @Sendable (inout StoredUpload) -> Void
  ) async throws {
    try await write { txn in
      guard var current = try txn[StoredUpload.self].load(upload.id), current.key == upload.key
      else { return }
      change(&current)
      try txn[StoredUpload.self].save(current)
    }
  }

  /// Replaces the uploads of a key that were never sent by fewer ones, and notes that the first of
  /// them is sent now.
  /// - Returns: The oldest upload of the key; nil if there is none any more.
  private func coalesced(_ first: StoredUpload) async throws -> StoredUpload? {
    if first.wasSent { return first }
    let coalesce = coalesce
    return try await write { txn in
      // A server that has got an upload knows its key, also if its answer was never read.
      func begun(_ upload: StoredUpload?) throws -> StoredUpload? {
        guard var upload, !upload.isParked else { return nil }
        upload.wasSent = true
        try txn[StoredUpload.self].save(upload)
        return upload
      }
      guard let coalesce else {
        let stored = try txn[StoredUpload.self].load(first.id)
        return try begun(stored?.key == first.key ? stored : nil)
      }
      let all = try txn[StoredUpload.self].values(
        where: StoredUpload.queue == U.queueName
          && StoredUpload.orderingKey == first.orderingKey,
        orderBy: [StoredUpload.id.ascending])
      let waiting = all.prefix { !$0.wasSent && !$0.isParked }
      let uploads = waiting.compactMap { try? JSONDecoder().decode(U.self, from: $0.payload) }
      if waiting.count < 2 || uploads.count < waiting.count { return try begun(all.first) }
      let fewer = coalesce(uploads)
      guard fewer.count < uploads.count else { return try begun(all.first) }
      try txn[StoredUpload.self].remove(waiting.map { $0.id })
      // What the replaced ones were about is done when all of the new ones are.
      let subjects = Set(waiting.flatMap(\.subjects).map(Subject.init)).map(\.text)
      let holds = Array(Set(waiting.flatMap(\.holds)))
      var saved: [StoredUpload] = []
      for (old, upload) in zip(waiting, fewer) {
        var new = old
        new.key = UUID()
        new.payload = try JSONEncoder().encode(upload)
        (new.subjects, new.holds) = (subjects, holds)
        saved.append(new)
      }
      try txn[StoredUpload.self].save(saved)
      try txn.releaseHolds(of: Array(waiting))
      return try begun(saved.first ?? all.dropFirst(waiting.count).first)
    }
  }

  // MARK: Watching

  /// All uploads that are not done, oldest first.
  /// - Throws: The errors of the storage.
  public func statuses() async throws -> [UploadStatus<U>] {
    let stored = try await store.values(
      where: StoredUpload.queue == U.queueName, orderBy: [StoredUpload.id.ascending])
    return statuses(stored)
  }

  private func statuses(_ stored: [StoredUpload]) -> [UploadStatus<U>] {
    let running = runs.running
    let now = Date()
    return stored.map { upload in
      let state: UploadStatus<U>.State =
        if upload.isParked {
          .parked
        } else if running.contains(upload.key) {
          .running
        } else if let time = upload.nextAttempt, time > now {
          .pausing(until: time)
        } else {
          .waiting
        }
      return UploadStatus(
        id: upload.key, upload: try? JSONDecoder().decode(U.self, from: upload.payload),
        orderingKey: upload.orderingKey, state: state, attempts: upload.attempts,
        lastError: upload.lastError)
    }
  }

  /// All uploads that are not done, whenever one is enqueued, starts, fails or is done.
  ///
  /// The first element is the present state. A reader that is behind gets the latest state.
  public func statusChanges() -> AsyncThrowingStream<[UploadStatus<U>], any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let changes = store.changes(where: StoredUpload.queue == U.queueName)
      let watch = Task { [self] in
        for await _ in changes { signal.raise() }
      }
      let task = Task { [self] in
        do {
          while true {
            let seen = signal.count
            continuation.yield(try await statuses())
            try Task.checkCancellation()
            await signal.wait(after: seen, until: nil)
          }
        } catch {
          continuation.finish(throwing: error is CancellationError ? nil : error)
        }
      }
      continuation.onTermination = { _ in
        watch.cancel()
        task.cancel()
      }
    }
  }

  // MARK: By hand

  /// Lets a parked or pausing upload be sent at once.
  /// - Parameter id: The idempotency key.
  /// - Returns: Whether there is such an upload.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func retry(_ id: UUID) async throws -> Bool {
    try await write { txn in
      guard var upload = try txn[StoredUpload.self].values(where: StoredUpload.key == id).first
      else { return false }
      upload.isParked = false
      upload.nextAttempt = nil
      try txn[StoredUpload.self].save(upload)
      return true
    }
  }

  /// Removes an upload. One that is being sent may reach the server nevertheless.
  /// - Parameter id: The idempotency key.
  /// - Returns: Whether there was such an upload.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ id: UUID) async throws -> Bool {
    try await write { txn in
      guard let upload = try txn[StoredUpload.self].values(where: StoredUpload.key == id).first
      else { return false }
      try txn.removeUploads([upload])
      return true
    }
  }
}

extension Silos {
  /// A transaction over one type.
  func write<V: Persistable, R: Sendable>(
    only type: V.Type, _ body: @escaping @Sendable (SilosTransaction) throws -> R
  ) async throws -> R {
    try await write([type], body)
  }
}
