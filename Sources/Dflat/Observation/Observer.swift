// Observers: the internal side of subscriptions.
//
// Invariants:
//
//  - the handler is called by jobs of the type's delivery queue, so never twice at the same time;
//  - once `cancel` has returned no call begins, and the handler is released as soon as no call is
//    running;
//  - everything except the gate of the handler is used by jobs of that queue only.

/// Unchecked: any thread may close the callback, which is `Sendable`. Everything else, also in
/// subclasses, is used by jobs of the type's delivery queue, which run one at a time.
class Observer: @unchecked Sendable {
  let type: TypeObservers
  /// Whether it is in the type's index.
  var isRegistered = false
  /// Whether the observer could not be refreshed when that was necessary, because reading failed.
  @exclusivity(unchecked) var isStale = false
  /// The handler, which the subclass calls.
  private let callback: any ClosableCallback

  init(_ type: TypeObservers, _ callback: any ClosableCallback) {
    self.type = type
    self.callback = callback
  }

  /// Whether it was cancelled, or has ended.
  final var isCancelled: Bool { callback.isClosed }

  /// Reads the observed data again, as they were at a point of the deliveries.
  func read(_ past: PastView) throws { preconditionFailure("Observer is abstract") }
  /// Is called when reading has failed. The error was reported.
  func readingFailed(_ error: any Error) {}
  /// Calls the handler if there is something new to deliver.
  func deliverChange() { preconditionFailure("Observer is abstract") }

  /// After this returns no call of the handler begins.
  final func cancel() {
    if callback.close() { end() }
  }

  /// Ends the observation. Called once, when the callback is closed.
  func end() { type.remove(self) }
}

/// An observer of one object. Its handler gets the row after each change, and nil when the object
/// was deleted.
///
/// Unchecked as `Observer` is: `row` and `event` belong to the delivery queue.
final class ObjectObserver: Observer, @unchecked Sendable {
  typealias Handler = @Sendable (Row?) -> Void

  /// The object as last known; at first, as the caller passed it in.
  @exclusivity(unchecked) private(set) var row: Row
  @exclusivity(unchecked) private var event = Event.none
  private let callback: Callback<Handler>

  private enum Event {
    case none, updated, deleted
  }

  init(_ type: TypeObservers, _ row: Row, _ handler: @escaping Handler) {
    self.row = row
    callback = Callback(handler)
    super.init(type, callback)
  }

  /// - Parameter replaced: Receives the row that is not kept any more.
  func apply(_ new: Row?, _ replaced: inout ReplacedRows) {
    guard let new else {
      event = .deleted
      return
    }
    replaced.rows.append(exchange(&row, with: new))
    event = .updated
  }

  /// Takes over the row that another connection may have changed; nil if it was deleted.
  func follow(_ stored: Row?, _ replaced: inout ReplacedRows) {
    if let stored, stored.equals(row, as: type.schema.layout) { return }
    apply(stored, &replaced)
  }

  override func read(_ past: PastView) throws {
    let stored = try past.row(of: row)
    isStale = false
    guard let stored else {
      event = .deleted
      return
    }
    if !stored.equals(row, as: type.schema.layout) { event = .updated }
    row = stored
  }

  override func deliverChange() {
    let event = event
    self.event = .none
    switch event {
    case .none: break
    case .updated: callback.call { $0(row) }
    case .deleted:
      callback.call { handler in
        // This is the last event: the handler is released when it returns.
        cancel()
        handler(nil)
      }
    }
  }
}
