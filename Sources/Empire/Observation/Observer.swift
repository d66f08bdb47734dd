// An observer of a set of records: the implementation of a subscription.
//
// A lock protects the handler, which is called without holding it. After `cancel` returns, no call
// begins.

internal import Platform

final class Observer<Record: IndexKeyRecord & Sendable>: AnyObserver {
  /// Receives the records or an error. Returns whether the subscription continues.
  typealias Handler = @Sendable (Result<[Record], any Error>) -> Bool

  private let set: RecordSet<Record>
  private let bounds: [(low: [UInt8], high: [UInt8])]
  let includesPresent: Bool
  private let observation: Observation
  private let handler: Mutex<Handler?>
  private let known = Mutex(Known())

  /// Changed as `Observation` says.
  private struct Known {
    var serial = 0
    var state: ObservedState?
  }

  var serial: Int {
    get { known.withLock { $0.serial } }
    set { known.withLock { $0.serial = newValue } }
  }

  var state: ObservedState? {
    get { known.withLock { $0.state } }
    set { known.withLock { $0.state = newValue } }
  }

  var prefix: IndexKeyRecordHash { Record.keyPrefix }

  /// Throws for a set that can never be read.
  init(
    _ set: RecordSet<Record>, includesPresent: Bool, _ observation: Observation,
    _ handler: @escaping Handler
  ) throws {
    self.set = set
    bounds = try set.bounds()
    self.includesPresent = includesPresent
    self.observation = observation
    self.handler = Mutex(handler)
  }

  func isAffected(by keys: [[UInt8]]) -> Bool {
    bounds.contains { low, high in
      // Binary search for the first key that is not below the lower bound.
      var (first, end) = (0, keys.count)
      while first < end {
        let middle = (first + end) / 2
        if keys[middle].lexicographicallyPrecedes(low) { first = middle + 1 } else { end = middle }
      }
      guard first < keys.count else { return false }
      let head = keys[first].prefix(high.count)
      return head.elementsEqual(high) || head.lexicographicallyPrecedes(high)
    }
  }

  func update(in context: TransactionContext, after last: ObservedState?) -> ObserverUpdate? {
    if handler.withLock({ $0 == nil }) { return nil }
    // A read-only view, so that migrated records are not written back.
    let view = context.readOnlyView()
    defer { view.end() }
    let result: Result<[Record], any Error>
    let state: ObservedState
    do {
      let records = try view.select(set)
      state = .records(try bytes(of: records))
      result = .success(records)
    } catch {
      state = .failure
      result = .failure(error)
    }
    if let last = last ?? self.state, last == state { return nil }
    return ObserverUpdate(observer: self, state: state) { self.deliver(result) }
  }

  func failure(_ error: any Error) -> ObserverUpdate {
    ObserverUpdate(observer: self, state: .failure) { self.deliver(.failure(error)) }
  }

  private func deliver(_ result: Result<[Record], any Error>) {
    guard let handler = handler.withLock({ $0 }) else { return }
    if !handler(result) { cancel() }
  }

  /// Ends the observation: no further call begins.
  func cancel() {
    // Released outside the lock, because deinitialisers of the handler's captures may run any code.
    let dropped = handler.withLock { $0.take() }
    if dropped != nil { observation.remove(self) }
  }

  /// The bytes of records, as they would be stored now.
  private func bytes(of records: [Record]) throws -> [UInt8] {
    var all: [UInt8] = []
    for record in records {
      try withKey(of: record) { all += $0 }
      var size = FieldsSize()
      try record.serialize(measuring: &size)
      let start = all.count
      all.append(contentsOf: repeatElement(0, count: size.bytes))
      all.withUnsafeMutableBytes { room in
        var fields = UnsafeMutableRawBufferPointer(rebasing: room[start...])
        record.serialize(fields: &fields)
      }
      // Separates the records unambiguously.
      all += IndexFile.bytes(UInt64(size.bytes))
    }
    return all
  }
}
