// Observers: who is told of changes.
//
// An observer is what a subscription stands for inside of Dflat. It keeps true:
//
//  - the handler is called by jobs of the type's line of deliveries, so never twice at the same time;
//  - once `cancel` has returned no call begins, and the handler is let go of as soon as no call is running;
//  - everything but the gate of the handler is used by jobs of that line only.

/// Unchecked: what is not behind the gate is used by one delivery at a time.
class Observer: @unchecked Sendable {
  let type: TypeObservers
  /// Whether it is in the type's index.
  var isRegistered = false
  /// Whether what it knows could not be read when that was necessary.
  @exclusivity(unchecked) var isStale = false
  /// Guards the handler, which a subclass has.
  fileprivate let gate = CallGate()

  init(_ type: TypeObservers) {
    self.type = type
  }

  /// Whether it was cancelled, or has ended.
  final var isCancelled: Bool { gate.isClosed }

  /// Lets go of the handler. Called once.
  func dropHandler() { preconditionFailure("an observer of nothing") }
  /// Reads again what it knows, as it was at a point.
  func read(_ past: PastView) throws { preconditionFailure("an observer of nothing") }
  /// Calls the handler if there is something new.
  func tellNews() { preconditionFailure("an observer of nothing") }

  /// No call of the handler begins any more.
  final func cancel() {
    let (isFirst, letsGo) = gate.close()
    if letsGo { dropHandler() }
    if isFirst { type.remove(self) }
  }

  /// Calls the handler by `body`, unless it was cancelled.
  @inline(__always)
  final func call(_ body: () -> Void) {
    guard gate.enter() else { return }
    body()
    if gate.leave() { dropHandler() }
  }
}

/// Who observes one object. It is told the row after each change, and nil when the object is gone.
///
/// Unchecked as `Observer` is.
final class ObjectObserver: Observer, @unchecked Sendable {
  typealias Handler = @Sendable (Row?) -> Void

  /// The object as it was last known, at first as it was given.
  @exclusivity(unchecked) private(set) var row: Row
  @exclusivity(unchecked) private var news = News.none
  /// Written by who lets go of it, when nobody calls it any more.
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
    // What it has captured may end here, and do anything.
    let last = handler.take()
    withExtendedLifetime(last) {}
  }

  /// - Parameter replaced: Gets the row that is not kept any more.
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

  override func tellNews() {
    let news = news
    self.news = .none
    switch news {
    case .none: break
    case .updated: call { handler?(row) }
    case .deleted:
      call {
        // The last event: whatever it does, it is let go of at its end.
        cancel()
        handler?(nil)
      }
    }
  }
}
