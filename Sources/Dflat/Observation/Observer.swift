// Observers: the internal side of subscriptions.
//
// Invariants:
//
//  - the handler is called by jobs of the type's delivery queue, so never twice at the same time;
//  - once `cancel` has returned no call begins, and the handler is released as soon as no call is
//    running;
//  - everything except the gate of the handler is used by jobs of that queue only.

/// Unchecked: everything that is not behind the gate is used by one delivery at a time.
class Observer: @unchecked Sendable {
  let type: TypeObservers
  /// Whether it is in the type's index.
  var isRegistered = false
  /// Whether the observer could not be refreshed when that was necessary, because reading failed.
  @exclusivity(unchecked) var isStale = false
  /// Guards the handler, which is stored in the subclass.
  fileprivate let gate = CallGate()

  init(_ type: TypeObservers) {
    self.type = type
  }

  /// Whether it was cancelled, or has ended.
  final var isCancelled: Bool { gate.isClosed }

  /// Releases the handler. Called once.
  func dropHandler() { preconditionFailure("Observer is abstract") }
  /// Reads the observed data again, as they were at a point of the deliveries.
  func read(_ past: PastView) throws { preconditionFailure("Observer is abstract") }
  /// Calls the handler if there is something new to deliver.
  func deliverChange() { preconditionFailure("Observer is abstract") }

  /// After this returns no call of the handler begins.
  final func cancel() {
    let (isFirst, letsGo) = gate.close()
    if letsGo { dropHandler() }
    if isFirst { type.remove(self) }
  }

  /// Calls the handler through `body`, unless the observer was cancelled.
  @inline(__always)
  final func call(_ body: () -> Void) {
    guard gate.enter() else { return }
    body()
    if gate.leave() { dropHandler() }
  }
}

/// An observer of one object. Its handler gets the row after each change, and nil when the object
/// was deleted.
///
/// Unchecked as `Observer` is.
final class ObjectObserver: Observer, @unchecked Sendable {
  typealias Handler = @Sendable (Row?) -> Void

  /// The object as last known; at first, as the caller passed it in.
  @exclusivity(unchecked) private(set) var row: Row
  @exclusivity(unchecked) private var news = News.none
  /// Written by the thread that releases it, when no call uses it any more.
  @exclusivity(unchecked) private var handler: Handler?

  private enum News {
    case none, updated, deleted
  }

  init(_ type: TypeObservers, _ row: Row, _ handler: @escaping Handler) {
    self.row = row
    self.handler = handler
    super.init(type)
  }

  override func dropHandler() {
    // Releasing it may deinitialize captured objects and run arbitrary code.
    let last = handler.take()
    withExtendedLifetime(last) {}
  }

  /// - Parameter replaced: Receives the row that is not kept any more.
  func apply(_ new: Row?, _ replaced: inout ReplacedRows) {
    guard let new else {
      news = .deleted
      return
    }
    replaced.rows.append(exchange(&row, with: new))
    news = .updated
  }

  override func read(_ past: PastView) throws {
    let stored = row.id >= 0 ? try past.row(id: row.id) : try past.row(keyOf: row)
    isStale = false
    guard let stored else {
      news = .deleted
      return
    }
    if !stored.equals(row, as: type.schema.layout) { news = .updated }
    row = stored.withoutMark()
  }

  override func deliverChange() {
    let news = news
    self.news = .none
    switch news {
    case .none: break
    case .updated: call { handler?(row) }
    case .deleted:
      call {
        // This is the last event: the handler is released when it returns.
        cancel()
        handler?(nil)
      }
    }
  }
}
