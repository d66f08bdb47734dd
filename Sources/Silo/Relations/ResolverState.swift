// ResolverState: the requests of a silo to its resolver.
//
// Requests for the same id at the same time are one request, and requests within a short window are
// one batch. What comes is saved before the requests are answered, so that observers are told.

import Dflat
import Platform

final class ResolverState<Value: Persistable>: Sendable {
  typealias Resolver = @Sendable ([Value.ID]) async throws -> [Value]
  private typealias Waiter = CheckedContinuation<Value?, any Error>

  /// How a resolver is asked.
  struct Settings {
    let resolver: Resolver
    let window: Duration
    let timeout: Duration
  }

  /// Requests that are sent together. Its properties are protected by the lock of `State`.
  private final class Batch: @unchecked Sendable {
    var waiters: [Value.ID: [Int: Waiter]] = [:]
    /// The ids in the order of the requests.
    var ids: [Value.ID] = []
  }

  private struct State {
    var settings: Settings?
    /// The batch that is gathered; nil if there is none.
    var gathering: Batch?
    /// For each requested id, the batch that it is in.
    var batches: [Value.ID: Batch] = [:]
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
      }
    } onCancel: {
      cancel(number, id)
    }
  }

  /// Adds a waiter.
  /// - Returns: The batch, if it is a new one.
  private func add(_ waiter: Waiter, _ number: Int, _ id: Value.ID) -> Batch? {
    if Task.isCancelled {
      waiter.resume(throwing: CancellationError())
      return nil
    }
    return state.withLock { state in
      if let batch = state.batches[id] {
        batch.waiters[id, default: [:]][number] = waiter
        return nil
      }
      let isNew = state.gathering == nil
      let batch = state.gathering ?? Batch()
      state.gathering = batch
      state.batches[id] = batch
      batch.ids.append(id)
      batch.waiters[id] = [number: waiter]
      return isNew ? batch : nil
    }
  }

  private func cancel(_ number: Int, _ id: Value.ID) {
    let waiter = state.withLock { state in
      state.batches[id]?.waiters[id]?.removeValue(forKey: number)
    }
    waiter?.resume(throwing: CancellationError())
  }

  private func start(_ batch: Batch, for silo: Silo<Value>) {
    Task {
      guard let settings else {
        return finish(batch, .failure(SiloError.noResolver("\(Value.self)")))
      }
      try? await Task.sleep(for: settings.window)
      let ids = state.withLock { state in
        state.gathering = nil
        return batch.ids
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
    to ids: [Value.ID], of batch: Batch, _ settings: Settings, for silo: Silo<Value>
  ) async -> Result<[Value], any Error> {
    do {
      let values = try await settings.resolver(ids)
      let asked = Set(ids)
      if let other = values.first(where: { !asked.contains($0.id) }) {
        throw SiloError.unexpectedValue(type: "\(Value.self)", id: "\(other.id)")
      }
      // After the time is over nothing is stored.
      let isAwaited = state.withLock { state in ids.contains { state.batches[$0] === batch } }
      guard !values.isEmpty, isAwaited else { return .success(values) }
      // What was stored while the answer was on its way is newer.
      let known = try await silo.silos.write([Value.self]) { txn in
        let stored = try txn[Value.self].load(values.map(\.id))
        let ids = Set(stored.map(\.id))
        let new = values.filter { !ids.contains($0.id) }
        try txn[Value.self].save(new)
        return stored + new
      }
      return .success(known)
    } catch {
      return .failure(error)
    }
  }

  /// Answers the requests of a batch, once.
  private func finish(_ batch: Batch, _ result: Result<[Value], any Error>) {
    let waiters = state.withLock { state in
      for id in batch.ids where state.batches[id] === batch { state.batches[id] = nil }
      defer { batch.waiters = [:] }
      return batch.waiters
    }
    let found = result.map { values in
      Dictionary(values.map { ($0.id, $0) }) { _, last in last }
    }
    for (id, waiters) in waiters {
      for waiter in waiters.values { waiter.resume(with: found.map { $0[id] }) }
    }
  }
}
