// ValueChange: the differences of a query's values.
//
// Stores find the differences between canonical representations; here they become values. Stored
// values that cannot be read are left out, and all positions count without them.

package import Dflat

/// A new state of watched values with its difference from the state before.
///
/// The difference has the order of `ResultChange`: first the removals and the old positions of the
/// moves, then the insertions and new positions of the moves, then the updates.
public struct ValueChange<Value: Persistable>: Sendable {
  /// A value that has left or entered.
  public struct Entry: Sendable {
    /// Its position: in the old values if it has left, in the new ones if it has entered.
    public let offset: Int
    /// The value.
    public let value: Value
  }

  /// A value that has changed its position relative to the others.
  public struct Move: Sendable {
    /// Its position before.
    public let from: Int
    /// Its position now.
    public let to: Int
    /// The value as it is now.
    public let value: Value
  }

  /// A value whose content has changed. It may have moved, too.
  public struct Update: Sendable {
    /// Its position before.
    public let from: Int
    /// Its position now.
    public let to: Int
    /// The value as it was.
    public let previous: Value
    /// The value as it is now.
    public let value: Value
  }

  /// The values as they were.
  public let previous: [Value]
  /// The values as they are now.
  public let values: [Value]
  /// The values that have left, ascending by their old positions.
  public let removals: [Entry]
  /// The values that have entered, ascending by their new positions.
  public let insertions: [Entry]
  /// The values that have changed their position relative to the others.
  public let moves: [Move]
  /// The values whose content has changed.
  public let updates: [Update]

  /// Whether nothing has changed.
  public var isEmpty: Bool {
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Turns the old values into the new ones.
  /// - Parameter values: The values of ``previous``, or an array that the program keeps parallel.
  public func apply(to values: inout [Value]) {
    let leaving = (removals.map(\.offset) + moves.map(\.from)).sorted()
    let entering = (insertions.map { ($0.offset, $0.value) } + moves.map { ($0.to, $0.value) })
      .sorted { $0.0 < $1.0 }
    if leaving.count + entering.count > 1 {
      // In one pass, however many they are.
      values = values.removing(at: leaving).inserting(entering)
    } else {
      for offset in leaving { values.remove(at: offset) }
      for (offset, value) in entering { values.insert(value, at: offset) }
    }
    for update in updates { values[update.to] = update.value }
  }
}

extension Array {
  /// The array without the elements at some ascending positions.
  fileprivate func removing(at offsets: [Int]) -> [Element] {
    var rest: [Element] = []
    rest.reserveCapacity(count - offsets.count)
    var start = 0
    for offset in offsets {
      rest += self[start..<offset]
      start = offset + 1
    }
    rest += self[start...]
    return rest
  }

  /// The array with elements that have some ascending positions then.
  fileprivate func inserting(_ elements: [(offset: Int, element: Element)]) -> [Element] {
    var all: [Element] = []
    all.reserveCapacity(count + elements.count)
    var start = 0
    for (offset, element) in elements {
      let end = start + offset - all.count
      all += self[start..<end]
      all.append(element)
      start = end
    }
    all += self[start...]
    return all
  }
}

/// Values of a result, some of which may be unreadable.
private struct ReadableValues<Value: Persistable> {
  private(set) var values: [Value] = []
  /// The position among `values` for each position in the result; nil if it is unreadable.
  private var places: [Int?] = []

  init(_ objects: some Sequence<Canonical<Value>>, _ report: (any Error) -> Void) {
    for object in objects {
      do {
        let value = try object.value()
        places.append(values.count)
        values.append(value)
      } catch {
        report(error)
        places.append(nil)
      }
    }
  }

  subscript(offset: Int) -> (place: Int, value: Value)? {
    places[offset].map { ($0, values[$0]) }
  }
}

extension FetchedResult {
  /// The values that can be read.
  func readableValues<Value>(
    _ report: (any Error) -> Void
  ) -> [Value] where Element == Canonical<Value> {
    ReadableValues(self, report).values
  }
}

extension ValueChange {
  init(_ change: ResultChange<Canonical<Value>>, _ report: (any Error) -> Void) {
    let old = ReadableValues(change.previous) { _ in }
    let new = ReadableValues(change.result, report)
    previous = old.values
    values = new.values
    var removals = change.removals.compactMap { entry in
      old[entry.offset].map { Entry(offset: $0.place, value: $0.value) }
    }
    var insertions = change.insertions.compactMap { entry in
      new[entry.offset].map { Entry(offset: $0.place, value: $0.value) }
    }
    moves = change.moves.compactMap { move in
      guard let from = old[move.from], let to = new[move.to] else { return nil }
      return Move(from: from.place, to: to.place, value: to.value)
    }
    var updates: [Update] = []
    for update in change.updates {
      switch (old[update.from], new[update.to]) {
      case (let from?, let to?):
        updates.append(
          Update(from: from.place, to: to.place, previous: from.value, value: to.value))
      case (let from?, nil): removals.append(Entry(offset: from.place, value: from.value))
      case (nil, let to?): insertions.append(Entry(offset: to.place, value: to.value))
      case (nil, nil): break
      }
    }
    self.removals = removals.sorted { $0.offset < $1.offset }
    self.insertions = insertions.sorted { $0.offset < $1.offset }
    self.updates = updates
  }
}

/// The changes of watched values, one for each transaction that changed any of them.
///
///     let changes = tasks.changes(where: !Task.isDone)
///     var rows = changes.initialValues
///     for await change in changes { change.apply(to: &rows) }
///
/// The sequence does not begin with the values that are there: these are ``initialValues``. It does
/// not end by itself, unless the values cannot be watched, as those of a newer version, or can no
/// longer be, since a newer version has migrated them; watching ends with the loop.
///
/// Stored values that cannot be read are left out, and reported: to the ``Silos/errorHandler`` of the
/// silos if there is one, and otherwise to that of the store. So is the error that ends a sequence.
public struct ValueChanges<Value: Persistable>: AsyncSequence, Sendable {
  private enum Source {
    case store(AsyncStream<FetchedResult<Canonical<Value>>>)
    case silo(AsyncStream<WatchedState<Value>>)
  }

  let start: FetchedResult<Canonical<Value>>
  let report: @Sendable (any Error) -> Void
  /// Why there is nothing to watch.
  let failure: (any Error)?
  private let source: Source

  /// The changes between states, for authors of stores.
  ///
  /// - Parameters:
  ///   - start: The present state. Its objects have row ids, by which they are recognised.
  ///   - states: The states after it.
  ///   - report: Called with the errors of values that cannot be read.
  package init(
    from start: FetchedResult<Canonical<Value>>,
    _ states: AsyncStream<FetchedResult<Canonical<Value>>>,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    self.start = start
    self.report = report
    failure = nil
    source = .store(states)
  }

  /// No changes, since the values cannot be watched, for authors of stores. The sequence reports
  /// the error, and ends.
  ///
  /// - Parameters:
  ///   - failure: Why they cannot be watched.
  ///   - report: Called with the error when the sequence is read.
  package init(failing failure: any Error, report: @escaping @Sendable (any Error) -> Void) {
    start = FetchedResult([])
    self.report = report
    self.failure = failure
    source = .store(AsyncStream { $0.finish() })
  }

  init(
    from start: FetchedResult<Canonical<Value>>, _ states: AsyncStream<WatchedState<Value>>,
    failure: (any Error)?, report: @escaping @Sendable (any Error) -> Void
  ) {
    self.start = start
    self.report = report
    self.failure = failure
    source = .silo(states)
  }

  /// The values at the call that made the sequence, in their order: what the first change changes.
  /// Stored values that cannot be read are left out.
  public var initialValues: [Value] { start.readableValues { _ in } }

  /// The states that a silo gives.
  var siloStates: AsyncStream<WatchedState<Value>> {
    guard case .silo(let states) = source else {
      preconditionFailure("the changes of a store were used as those of a silo")
    }
    return states
  }

  /// The states that a store gives.
  var storeStates: AsyncStream<FetchedResult<Canonical<Value>>> {
    guard case .store(let states) = source else {
      preconditionFailure("a store has passed on the changes of a silo")
    }
    return states
  }

  /// Makes the iterator. The sequence supports a single iteration.
  public func makeAsyncIterator() -> AsyncIterator {
    switch source {
    case .store(let states):
      AsyncIterator(
        previous: start, store: states.makeAsyncIterator(), failure: failure, report: report)
    case .silo(let states):
      AsyncIterator(
        previous: start, silo: states.makeAsyncIterator(), failure: failure, report: report)
    }
  }

  /// The iterator over the changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var previous: FetchedResult<Canonical<Value>>
    fileprivate var store: AsyncStream<FetchedResult<Canonical<Value>>>.Iterator?
    fileprivate var silo: AsyncStream<WatchedState<Value>>.Iterator?
    fileprivate var failure: (any Error)?
    fileprivate let report: @Sendable (any Error) -> Void

    /// The next change; nil if the task is cancelled, or if the values cannot be watched.
    public mutating func next() async -> ValueChange<Value>? {
      if let failure = failure.take() { report(failure) }
      while let state = await nextState() {
        let change: ValueChange<Value>
        switch state {
        case .next(let result) where previous.hasUnstored || result.hasUnstored:
          // Values that are migrated get their row ids meanwhile.
          let numbered = previous.numbered()
          let known = result.recognised(from: numbered)
          change = ValueChange(ResultChange(from: numbered, to: known), report)
          previous = result.hasUnstored ? known : result
        case .next(let result):
          change = ValueChange(ResultChange(from: previous, to: result), report)
          previous = result
        case .switched(let result):
          let numbered = previous.numbered()
          let known = result.recognised(from: numbered)
          change = ValueChange(ResultChange(from: numbered, to: known), report)
          previous = result.hasUnstored ? known : result
        case .failed(let error):
          report(error)
          return nil
        }
        if !change.isEmpty { return change }
      }
      return nil
    }

    private mutating func nextState() async -> WatchedState<Value>? {
      if silo != nil { return await silo?.next() }
      return await store?.next().map { .next($0) }
    }
  }
}

extension FetchedResult where Element: Atom {
  /// Whether there are objects that are not stored, but come from older ones. Such have no row ids,
  /// and those that are found in place of one have a negative one.
  fileprivate var hasUnstored: Bool { contains { $0._rowid < 0 } }

  /// The same objects, those without a row id with negative ones of their own.
  fileprivate func numbered<Value>() -> Self where Element == Canonical<Value> {
    var unused = UnusedRowIDs(besides: self)
    var seen: Set<Int64> = []
    return FetchedResult(
      map { object in
        if seen.insert(object._rowid).inserted { return object }
        return Canonical(_row: object._row.withBytes { DflatRow(sound: $0, id: unused.next()) })
      })
  }

  /// The same objects with the row ids that they have in another result, by which they are
  /// recognised as the same.
  fileprivate func recognised<Value>(from other: Self) -> Self where Element == Canonical<Value> {
    var unused = UnusedRowIDs(besides: other)
    var ids: [IDKey<Value.ID._Key>: Int64] = [:]
    for object in other { ids[IDKey(object.id)] = object._rowid }
    return FetchedResult(
      map { object in
        let id = ids[IDKey(object.id)] ?? unused.next()
        return Canonical(_row: object._row.withBytes { DflatRow(sound: $0, id: id) })
      })
  }
}

/// Negative row ids that no object of a result has. A damaged file may have any row ids.
private struct UnusedRowIDs {
  private let used: Set<Int64>
  private var last: Int64 = -1

  init<Element: Atom>(besides result: FetchedResult<Element>) {
    used = Set(result.map { $0._rowid })
  }

  mutating func next() -> Int64 {
    repeat { last -= 1 } while used.contains(last)
    return last
  }
}
