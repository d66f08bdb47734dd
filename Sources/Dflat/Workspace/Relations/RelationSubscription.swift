// RelationSubscription: follows what a query with relations gives.
//
// Such a result depends on objects of several types, so it is not maintained change by change. Each
// change of one of the types makes the query be asked again, at a point of the deliveries of all of
// them. Invariants:
//
//  - The question is enqueued for all types like a transaction, so it is answered after every
//    transaction that was called before, and no other handler of these types runs with it.
//  - Whatever changes after a question was answered leads to another one. Changes before it may be
//    answered together.

import Platform

/// A subscription to what a query with relations gives.
final class RelationSubscription: WorkspaceSubscription {
  /// Reads what is observed, and calls the handler if it has changed.
  typealias Question = @Sendable (WorkspaceCore) throws -> Void

  private let types: TypeSet
  private let question: Question
  private let callback: any ClosableCallback
  private let isAsked = Atomic(false)
  private let signals = Mutex<[HeldRowsObserver]>([])

  /// - Parameters:
  ///   - types: The types that the result depends on.
  ///   - callback: The handler.
  ///   - question: Reads what is observed, and calls the handler if it has changed. Never called by
  ///     two threads at the same time.
  init(
    _ types: [EntitySchema], _ callback: any ClosableCallback, _ question: @escaping Question
  ) {
    self.types = types.reduce(into: []) { $0.insert($1) }
    self.callback = callback
    self.question = question
  }

  deinit { cancel() }

  func cancel() {
    _ = callback.close()
    let signals = signals.withLock { signals in
      defer { signals = [] }
      return signals
    }
    for signal in signals { signal.cancel() }
  }

  /// Begins to observe, and asks for the first time.
  /// - Returns: False if the workspace is shut down.
  func start(in core: WorkspaceCore) -> Bool {
    for type in types.types {
      // No row is held, so none is read: only that something has changed is of interest.
      let signal = HeldRowsObserver(core.observers.of(type), held: { [] }) {
        [weak self, weak core] _ in
        if let core { self?.ask(core) }
      }
      signals.withLock { $0.append(signal) }
      if !core.enroll(signal, readAt: -1) {
        cancel()
        return false
      }
    }
    ask(core)
    return !callback.isClosed
  }

  private func ask(_ core: WorkspaceCore) {
    if isAsked.exchange(true, ordering: .acquiringAndReleasing) { return }
    let isAccepted = core.atDelivery(of: types) { [weak self] core in
      guard let self, !callback.isClosed else { return }
      isAsked.store(false, ordering: .releasing)
      // A delivery waits for no reader of the program's, which may wait for the delivery.
      do { try core.withSnapshot(for: .observation) { () throws in try question(core) } } catch {
        core.reportReading(error)
      }
    }
    if !isAccepted { cancel() }
  }
}

extension WorkspaceCore {
  /// Follows an answer that depends on objects of several types, by asking again.
  /// - Parameters:
  ///   - types: The types.
  ///   - start: The answer as the program has it; nil if it has none yet. Then the handler first
  ///     gets the current one.
  ///   - answer: Reads the answer, in a snapshot.
  ///   - isSame: Whether nothing has changed between two answers.
  ///   - handler: Called with each answer that is another one.
  func follow<Answer: Sendable>(
    _ types: [EntitySchema], from start: Answer? = nil,
    _ answer: @escaping @Sendable (WorkspaceCore) throws -> Answer,
    isSame: @escaping @Sendable (Answer, Answer) -> Bool,
    _ handler: @escaping @Sendable (Answer) -> Void
  ) -> any WorkspaceSubscription {
    followIfOpen(types, from: start, answer, isSame: isSame, handler) ?? ClosedSubscription()
  }

  /// As `follow`, for a caller that reports errors.
  /// - Parameter failed: Called when the answer could not be read, which is also reported to the
  ///   error hook.
  /// - Returns: nil if the workspace is shut down.
  func followIfOpen<Answer: Sendable>(
    _ types: [EntitySchema], from start: Answer? = nil,
    _ answer: @escaping @Sendable (WorkspaceCore) throws -> Answer,
    isSame: @escaping @Sendable (Answer, Answer) -> Bool,
    failed: @escaping @Sendable (any Error) -> Void = { _ in },
    _ handler: @escaping @Sendable (Answer) -> Void
  ) -> (any WorkspaceSubscription)? {
    let gate = Callback<@Sendable (Result<Answer, any Error>) -> Void> { result in
      switch result {
      case .success(let answer): handler(answer)
      case .failure(let error): failed(error)
      }
    }
    let shown = Mutex(start)
    let subscription = RelationSubscription(types, gate) { core in
      do {
        let now = try answer(core)
        let before = shown.withLock { shown in
          defer { shown = now }
          return shown
        }
        if before.map({ isSame($0, now) }) != true { gate.call { $0(.success(now)) } }
      } catch {
        gate.call { $0(.failure(error)) }
        throw error
      }
    }
    return subscription.start(in: self) ? subscription : nil
  }
}

/// A subscription without events: the workspace is shut down, or the question has no answer.
final class ClosedSubscription: WorkspaceSubscription {
  func cancel() {}
}
