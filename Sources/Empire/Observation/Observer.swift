// An observer of a set of records: what a subscription stands for.
//
// The handler is behind a lock and called without it. Once `cancel` has returned no call begins.

internal import Platform

/// Unchecked: what is not behind the lock is used in the write turn, or before the observer is registered.
final class Observer<Record: IndexKeyRecord & Sendable>: AnyObserver, @unchecked Sendable {
  /// Is called with the records; with nil it has been called for the last time. Returns whether there is more to hear.
  typealias Handler = @Sendable (Result<[Record], any Error>) -> Bool

  private let set: RecordSet<Record>
  private let observation: Observation
  private let handler: Mutex<Handler?>
  private var bounds: [(low: [UInt8], high: [UInt8])] = []
  var serial = 0
  var state: ObservedState?

  var prefix: IndexKeyRecordHash { Record.keyPrefix }

  init(_ set: RecordSet<Record>, _ observation: Observation, _ handler: @escaping Handler) {
    self.set = set
    self.observation = observation
    self.handler = Mutex(handler)
  }

  /// Reads for the first time.
  func begin(in context: TransactionContext, includingPresent: Bool) throws -> News? {
    bounds = try set.bounds()
    state = nil
    let news = look(in: context, after: nil)
    state = news?.state
    return includingPresent ? news : nil
  }

  func isTouched(by keys: [[UInt8]]) -> Bool {
    bounds.contains { low, high in
      // The first key that is not below the lower bound.
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

  func look(in context: TransactionContext, after last: ObservedState?) -> News? {
    if handler.withLock({ $0 == nil }) { return nil }
    // A reader migrates for its own eyes only.
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
    return News(observer: self, state: state) { self.tell(result) }
  }

  func failure(_ error: any Error) -> News {
    News(observer: self, state: .failure) { self.tell(.failure(error)) }
  }

  private func tell(_ result: Result<[Record], any Error>) {
    guard let handler = handler.withLock({ $0 }) else { return }
    if !handler(result) { cancel() }
  }

  /// Nothing is called any more.
  func cancel() {
    // What the handler has captured may end here, and may do anything: outside of the lock.
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
      // So that the end of one record is not taken for the beginning of the next.
      all += IndexFile.bytes(UInt64(size.bytes))
    }
    return all
  }
}
