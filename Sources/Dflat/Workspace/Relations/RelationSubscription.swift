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
  /// Follows the rows of a query with relations.
  func follow(
    _ query: Query, _ rows: ContiguousArray<Row>,
    _ handler: @escaping @Sendable (ContiguousArray<Row>) -> Void
  ) -> any WorkspaceSubscription {
    let callback = Callback(handler)
    let shown = Mutex(rows)
    let schema = query.schema
    return follow(query, [], callback) { core in
      let rows = ContiguousArray(try core.fetch(query).map { $0.withoutMark() })
      let isSame = shown.withLock { shown in
        defer { shown = rows }
        return shown.count == rows.count
          && shown.elementsEqual(rows) { $0.id == $1.id && $0.equals($1, as: schema.layout) }
      }
      if !isSame { callback.call { $0(rows) } }
    } ?? ClosedSubscription()
  }

  /// Follows aggregates over a query, of which one or the other has relations.
  func follow(
    _ parts: [AggregatePart], over query: Query,
    _ handler: @escaping @Sendable ([AggregateResult]) -> Void
  ) -> any WorkspaceSubscription {
    let callback = Callback(handler)
    let shown = Mutex<[AggregateResult]?>(nil)
    return follow(query, parts.map(\.expression), callback) { core in
      let results = try core.reading(query, parts.map(\.expression)) {
        try $0.accumulate(parts, query)
      }.map(\.result)
      let isSame = shown.withLock { shown in
        defer { shown = results }
        return shown.map { zip($0, results).allSatisfy { $0.isSame(as: $1) } } ?? false
      }
      if !isSame { callback.call { $0(results) } }
    } ?? ClosedSubscription()
  }

  /// Follows the groups of a query's objects, where one or the other has relations.
  func follow(
    _ parts: GroupedParts, over query: Query,
    _ handler: @escaping @Sendable ([GroupResult]) -> Void
  ) -> any WorkspaceSubscription {
    let callback = Callback(handler)
    let shown = Mutex<[GroupResult]?>(nil)
    return follow(query, parts.expressions, callback) { core in
      let groups = try core.reading(query, parts.expressions) { try $0.group(parts, query).results }
      let isSame = shown.withLock { shown in
        defer { shown = groups }
        return shown.map { $0.isSame(as: groups) } ?? false
      }
      if !isSame { callback.call { $0(groups) } }
    } ?? ClosedSubscription()
  }

  /// Follows an answer that depends on objects of several types. The handler first gets the current
  /// one.
  /// - Parameters:
  ///   - types: The types.
  ///   - answer: Reads the answer, in a snapshot.
  ///   - isSame: Whether nothing has changed between two answers.
  ///   - handler: Called with each answer that is another one.
  func follow<Answer: Sendable>(
    _ types: [EntitySchema], _ answer: @escaping @Sendable (WorkspaceCore) throws -> Answer,
    isSame: @escaping @Sendable (Answer, Answer) -> Bool,
    _ handler: @escaping @Sendable (Answer) -> Void
  ) -> any WorkspaceSubscription {
    let callback = Callback(handler)
    let shown = Mutex<Answer?>(nil)
    let subscription = RelationSubscription(types, callback) { core in
      let now = try answer(core)
      let before = shown.withLock { shown in
        defer { shown = now }
        return shown
      }
      if before.map({ isSame($0, now) }) != true { callback.call { $0(now) } }
    }
    return subscription.start(in: self) ? subscription : ClosedSubscription()
  }

  /// Follows which objects a query with relations gives.
  /// - Returns: nil if the workspace is shut down.
  func follow(
    rowsOf query: Query, _ handler: @escaping @Sendable (RowsObserver.Event) -> Void
  ) -> (any WorkspaceSubscription)? {
    let callback = Callback(handler)
    return follow(query, [], callback) { core in
      do {
        let rows = try core.fetch(query).map { $0.withoutMark() }
        callback.call { $0(.all(rows[...])) }
      } catch {
        callback.call { $0(.failed(error)) }
        throw error
      }
    }
  }

  private func follow(
    _ query: Query, _ values: [ValueExpression], _ callback: any ClosableCallback,
    _ question: @escaping RelationSubscription.Question
  ) -> RelationSubscription? {
    let subscription = RelationSubscription(
      [query.schema] + query.relatedTypes(with: values), callback, question)
    return subscription.start(in: self) ? subscription : nil
  }
}

/// The subscription of a workspace that is shut down.
private final class ClosedSubscription: WorkspaceSubscription {
  func cancel() {}
}
