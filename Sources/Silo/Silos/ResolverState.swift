// ResolverState: the requests of a silo to its resolver.
//
// Requests for the same id at the same time are one request, and requests within a short window are
// one batch. What comes is saved before the requests are answered, so that observers are told.

import Dflat
import Platform

final class ResolverState<Value: Persistable>: Sendable {
  typealias Resolver = @Sendable ([Value.ID]) async throws -> [Value]
  private typealias Key = IDKey<Value.ID>
  private typealias Waiter = CheckedContinuation<Value?, any Error>

  /// How a resolver is asked.
  struct Settings {
    let resolver: Resolver
    let window: Duration
    let timeout: Duration
  }

  /// Requests that are sent together.
  private struct Batch {
    var waiters: [Key: [Int: Waiter]] = [:]
    /// The ids in the order of the requests.
    var ids: [Value.ID] = []
    /// The ids that were deleted after they were asked for.
    var deleted = IDSet<Value>()
  }

  private struct State {
    var settings: Settings?
    /// The batches that are not answered, by their numbers.
    var batches: [Int: Batch] = [:]
    /// The batch that is gathered; nil if there is none.
    var gathering: Int?
    /// For each requested id, the batch that it is in.
    var batchOf: [Key: Int] = [:]
    var lastBatch = 0
    var lastWaiter = 0
  }

  private let state = Mutex(State())

  var settings: Settings? {
    get { state.withLock { $0.settings } }
    set { state.withLock { $0.settings = newValue } }
  }

  /// Asks for a value; nil if the resolver does not know it.
  func request(_ id: Value.ID, for silo: Silo<Value>) async throws -> Value? {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        if let batch = add(waiter, number, id) { start(batch, for: silo) }
        // The task may have been cancelled after this was asked, and before there was a waiter.
        if Task.isCancelled { cancel(number, id) }
      }
    } onCancel: {
      cancel(number, id)
    }
  }

  /// Adds a waiter.
  /// - Returns: The number of the batch, if it is a new one.
  private func add(_ waiter: Waiter, _ number: Int, _ id: Value.ID) -> Int? {
    if Task.isCancelled {
      waiter.resume(throwing: CancellationError())
      return nil
    }
    let key = Key(id)
    return state.withLock { state in
      if let batch = state.batchOf[key] {
        state.batches[batch]?.waiters[key, default: [:]][number] = waiter
        return nil
      }
      let isNew = state.gathering == nil
      if isNew { state.lastBatch += 1 }
      let batch = state.gathering ?? state.lastBatch
      state.gathering = batch
      state.batchOf[key] = batch
      state.batches[batch, default: Batch()].ids.append(id)
      state.batches[batch]?.waiters[key] = [number: waiter]
      return isNew ? batch : nil
    }
  }

  private func cancel(_ number: Int, _ id: Value.ID) {
    let key = Key(id)
    let waiter = state.withLock { state in
      state.batchOf[key].flatMap {
        state.batches[$0]?.waiters[key]?.removeValue(forKey: number)
      }
    }
    waiter?.resume(throwing: CancellationError())
  }

  private func start(_ batch: Int, for silo: Silo<Value>) {
    Task {
      guard let settings else {
        return finish(batch, .failure(SiloError.noResolver("\(Value.self)")))
      }
      try? await Task.sleep(for: settings.window)
      let ids = state.withLock { state in
        state.gathering = nil
        return state.batches[batch]?.ids ?? []
      }
      let timer = Task {
        try await Task.sleep(for: settings.timeout)
        finish(
          batch, .failure(SiloError.resolverTimedOut("\(Value.self)", after: settings.timeout)))
      }
      defer { timer.cancel() }
      await finish(batch, answer(to: ids, of: batch, settings, for: silo))
    }
  }

  private func answer(
    to ids: [Value.ID], of batch: Int, _ settings: Settings, for silo: Silo<Value>
  ) async -> Result<[Value], any Error> {
    do {
      let values = try await settings.resolver(ids)
      let asked = IDSet<Value>(ids)
      if let other = values.first(where: { !asked.contains($0.id) }) {
        throw SiloError.unexpectedValue(type: "\(Value.self)", id: "\(other.id)")
      }
      if values.isEmpty { return .success(values) }
      // What was stored while the answer was on its way is newer.
      let known = try await silo.silos.write([Value.self]) { txn -> [Value] in
        // After the time is over nothing is stored.
        guard let discarded = self.state.withLock({ $0.batches[batch]?.deleted }) else { return [] }
        let stored = try txn[Value.self].load(values.map { $0.id })
        let known = IDSet<Value>(stored.lazy.map { $0.id })
        let deleted = try txn.deleted(Value.self, values.lazy.map { $0.id })
        let new = values.filter {
          !known.contains($0.id) && !discarded.contains($0.id) && !deleted.contains($0.id)
        }
        try txn[Value.self].save(new)
        return stored + new
      }
      return .success(known)
    } catch {
      return .failure(error)
    }
  }

  /// Has answers that are on their way leave out what is deleted now.
  func discard(_ ids: [Value.ID]) {
    state.withLock { state in
      for id in ids {
        if let batch = state.batchOf[Key(id)] { state.batches[batch]?.deleted.insert(id) }
      }
    }
  }

  /// Answers the requests of a batch, once.
  private func finish(_ number: Int, _ result: Result<[Value], any Error>) {
    let waiters = state.withLock { state in
      let batch = state.batches.removeValue(forKey: number)
      for id in batch?.ids ?? [] { state.batchOf[Key(id)] = nil }
      // Without a resolver a batch ends while it is gathered.
      if state.gathering == number { state.gathering = nil }
      return batch?.waiters ?? [:]
    }
    let found = result.map { values in
      Dictionary(values.map { (Key($0.id), $0) }) { _, last in last }
    }
    for (key, waiters) in waiters {
      for waiter in waiters.values { waiter.resume(with: found.map { $0[key] }) }
    }
  }
}
