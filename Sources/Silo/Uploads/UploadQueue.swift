// UploadQueue: sends uploads to a server, each at least once.
//
// An upload is enqueued in the transaction of the change that it is about, beside the changed
// values, and removed when the server has answered. What is sent again after a crash has the same
// idempotency key. Invariants:
//
//  - Of the uploads with one ordering key only the oldest is ever sent, by one run at a time.
//  - What is written about an upload (its failure, its end) is written even if the queue is
//    cancelled in the meantime.
//
// Which uploads are running is known to the process only. One process at a time sends: see
// UploadLease.swift.

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
/// Its closures have labels, `coalesce:` and `onFailure:`; one behind the parentheses would be
/// `coalesce`.
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

  let silos: Silos
  private let retry: UploadRetry
  private let failure: @Sendable (any Error, U, UploadContext) -> UploadFailure
  let coalesce: (@Sendable ([U]) -> [U])?
  let runs: UploadRuns
  private var signal: UploadSignal { runs.signal }

  /// A queue. All queues with the name of the upload's type are the same queue.
  ///
  /// - Parameters:
  ///   - silos: The silos in whose transactions uploads are enqueued.
  ///   - retry: How long an upload pauses after a failure.
  ///   - coalesce: Replaces uploads of one key, oldest first, that wait and were never sent, by
  ///     fewer ones with the same effect.
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
    runs.notePauses(retry)
  }

  // MARK: Running

  /// Sends uploads until the task is cancelled, or until the queue is idle.
  ///
  /// Cancelling stops between uploads: an upload that is being sent is cancelled, and sent again
  /// with its key by the next run.
  ///
  /// Of several processes, or `Silos`, with one store, one at a time sends. The others wait until
  /// its runs have ended, or it has, and then go on. Several `Silos` on one `MemoryWorkspace` do
  /// not know of each other's runs: use one `Silos` there.
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
    // Wakes the run when something is enqueued, retried or done. The first look comes behind.
    let watch = UploadWatch(runs)
    defer { watch.end() }
    runs.noteChanges(nil)
    try await silos.removeOrphanedHolds()
    runs.lease.beginRun()
    let result: Result<Void, any Error>
    do {
      result = .success(try await runUnderLease(concurrency, until: end, watch, send))
    } catch {
      result = .failure(error)
    }
    // Also if this task is cancelled.
    let released = await Task.detached { [runs] in try await runs.lease.endRun(U.queueName) }.result
    try result.get()
    try released.get()
  }

  private func runUnderLease(
    _ concurrency: Int, until end: End, _ watch: UploadWatch,
    _ send: @escaping @Sendable (_ upload: U, _ context: UploadContext) async throws -> Void
  ) async throws {
    let signal = signal
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask { [self] in
        try await renewLease()
        return false
      }
      var sending = 0
      while true {
        try Task.checkCancellation()
        let seen = signal.count
        let domains = silos.domains
        watch.follow(domains)
        let held = try await runs.lease.hold(U.queueName, in: domains)
        let (ready, next) = try await pick(concurrency - sending, in: held)
        for upload in ready {
          sending += 1
          group.addTask { [self] in
            defer { runs.release(upload.stored.ordering) }
            try await attempt(upload, send)
            return true
          }
        }
        if sending == 0, next == nil, !runs.hasClaims, case .idle = end,
          try await areIdle(domains.filter { domain in !held.contains { $0 === domain } })
        {
          return group.cancelAll()
        }
        // Waits for the end of an upload, a new one, or the end of a pause.
        if sending == concurrency {
          if try await group.next() == true { sending -= 1 }
        } else if ready.isEmpty {
          let time = nextLook(next, in: domains)
          group.addTask { [signal, runs] in
            await signal.wait(after: seen, until: time, longest: max(2, runs.longestPause))
            return false
          }
          if try await group.next() == true { sending -= 1 }
        }
      }
    }
  }

  /// When the uploads are looked at again, if nothing is heard of them: what other processes
  /// enqueue may not be heard of.
  private func nextLook(_ next: Date?, in domains: [any StoreDomain]) -> Date? {
    guard domains.contains(where: { $0.isShared }) else { return next }
    let look = runs.clock.now.addingTimeInterval(
      min(.seconds(2), runs.lease.patience / 3) / .seconds(1))
    return min(next ?? look, look)
  }

  /// Renews the leases until the task is cancelled, however long uploads are being sent.
  private func renewLease() async throws {
    while true {
      try await Task.sleep(for: runs.lease.patience / 3)
      _ = try await runs.lease.hold(U.queueName, in: silos.domains)
    }
  }

  /// Whether nothing is left that another process could send from some domains.
  private func areIdle(_ domains: [any StoreDomain]) async throws -> Bool {
    for domain in domains {
      let store = domain.store(of: StoredUpload.self)
      let isOurs = StoredUpload.queue == U.queueName
      // Those of one key wait for one that is parked.
      let parked = try await store.values(
        ValueQuery(where: isOurs && StoredUpload.isParked == true))
      let keys = Set(parked.map(\.ordering)).map(\.key)
      let waiting = isOurs && !StoredUpload.orderingKey.in(keys)
      if try await store.count(ValueQuery(where: waiting)) > 0 { return false }
    }
    return true
  }

  /// Sends one upload, and writes down what came of it.
  private func attempt(
    _ waiting: WaitingUpload, _ send: @Sendable (U, UploadContext) async throws -> Void
  ) async throws {
    let domain = waiting.domain
    let stored: StoredUpload
    do {
      guard let begun = try await begin(waiting) else { return }
      stored = begun
    } catch let error as LostLease {
      return runs.lease.lose(error.domain)
    }
    let upload: U
    do { upload = try JSONDecoder().decode(U.self, from: stored.payload) } catch {
      try await update(stored.name, in: domain) {
        $0.isParked = true
        $0.lastError = "the upload cannot be decoded: \(error)"
      }
      return
    }
    let context = UploadContext(key: stored.key, attempt: min(stored.attempts, .max - 1) + 1)
    runs.begin(stored.key)
    defer { runs.end(stored.key) }
    // It may have been picked while the run was cancelled.
    try Task.checkCancellation()
    do {
      try await send(upload, context)
    } catch {
      // What was cancelled is sent again; it has not failed.
      if Task.isCancelled { throw CancellationError() }
      switch failure(error, upload, context) {
      case .drop: break
      case .park:
        try await update(stored.name, in: domain) {
          $0.attempts = context.attempt
          $0.isParked = true
          $0.lastError = "\(error)"
        }
        return
      case .retry:
        let pause = retry.pause(after: context.attempt, random: .random(in: -1...1))
        let now = runs.clock.now
        try await update(stored.name, in: domain) {
          $0.attempts = context.attempt
          $0.nextAttempt = now.addingTimeInterval(pause / .seconds(1))
          $0.lastError = "\(error)"
        }
        return
      }
    }
    _ = try await remove(stored.name, from: domain)
  }

  // MARK: Watching

  /// All uploads that are not done, oldest first.
  /// - Throws: The errors of the storage.
  public func statuses() async throws -> [UploadStatus<U>] {
    var stored: [StoredUpload] = []
    for domain in silos.domains {
      stored += try await domain.store(of: StoredUpload.self).values(
        ValueQuery(
          where: StoredUpload.queue == U.queueName, orderBy: [StoredUpload.id.ascending]))
    }
    // A move puts an upload into two domains for a moment.
    var seen: Set<UUID> = []
    return statuses(stored.sorted { $0.id < $1.id }.filter { seen.insert($0.key).inserted })
  }

  private func statuses(_ stored: [StoredUpload]) -> [UploadStatus<U>] {
    let running = runs.running
    let (now, longest) = (runs.clock.now, runs.longestPause)
    return stored.map { upload in
      let state: UploadStatus<U>.State =
        if upload.isParked {
          .parked
        } else if running.contains(upload.key) {
          .running
        } else if let time = upload.endOfPause(at: now, longest: longest) {
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
      let watch = UploadWatch(runs)
      let task = Task { [self] in
        do {
          while true {
            let seen = signal.count
            watch.follow(silos.domains)
            continuation.yield(try await statuses())
            try Task.checkCancellation()
            await signal.wait(after: seen)
          }
        } catch {
          continuation.finish(throwing: error is CancellationError ? nil : error)
        }
      }
      continuation.onTermination = { _ in
        task.cancel()
        watch.end()
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
    try await update(UploadName(key: id), in: nil) {
      $0.isParked = false
      $0.nextAttempt = nil
    } != nil
  }

  /// Removes an upload. One that is being sent may reach the server nevertheless.
  /// - Parameter id: The idempotency key.
  /// - Returns: Whether there was such an upload.
  /// - Throws: The errors of the storage.
  @discardableResult
  public func remove(_ id: UUID) async throws -> Bool {
    try await remove(UploadName(key: id), from: nil)
  }
}
