// Observers: who is told of changes.
//
// An observer is what a subscription stands for inside of Dflat. It keeps true:
//
//  - the handler is called by jobs of the type's line of deliveries, so never twice at the same time;
//  - once `cancel` has returned no call begins, and the handler is let go of as soon as no call is running;
//  - everything but the handler is used by jobs of that line only.

import Synchronization

/// Unchecked: what is not behind the lock is used by one delivery at a time.
class Observer: @unchecked Sendable {
  let type: TypeObservers
  /// Whether it is in the type's index.
  var isRegistered = false
  /// Whether what it knows could not be read when that was necessary.
  var isStale = false

  init(_ type: TypeObservers) {
    self.type = type
  }

  /// Whether it was cancelled, or has ended.
  var isCancelled: Bool { preconditionFailure("an observer of nothing") }
  /// Lets go of the handler.
  /// - Returns: Whether there was one.
  func dropHandler() -> Bool { preconditionFailure("an observer of nothing") }

  /// Reads again what it knows, as it was at a point.
  func read(_ past: PastView) throws { preconditionFailure("an observer of nothing") }
  /// Calls the handler if there is something new.
  func tellNews() { preconditionFailure("an observer of nothing") }

  /// No call of the handler begins any more.
  final func cancel() {
    if dropHandler() { type.remove(self) }
  }
}

/// An observer with a handler for its events.
///
/// Unchecked as `Observer` is; the handler is behind a lock.
class HandlingObserver<Event>: Observer, @unchecked Sendable {
  typealias Handler = @Sendable (Event) -> Void
  private let handler: Mutex<Handler?>

  init(_ type: TypeObservers, _ handler: @escaping Handler) {
    self.handler = Mutex(handler)
    super.init(type)
  }

  override final var isCancelled: Bool { handler.withLock { $0 == nil } }

  override final func dropHandler() -> Bool {
    // What the handler has captured may end here, and may do anything: outside of the lock.
    let dropped = handler.withLock { $0.take() }
    return dropped != nil
  }

  final func tell(_ event: Event) {
    handler.withLock { $0 }?(event)
  }

  /// The last event.
  final func end(_ event: Event) {
    let last = handler.withLock { $0.take() }
    guard let last else { return }
    type.remove(self)
    last(event)
  }
}

/// Who observes one object. It is told the row after each change, and nil when the object is gone.
///
/// Unchecked as `Observer` is.
final class ObjectObserver: HandlingObserver<Row?>, @unchecked Sendable {
  /// The object as it was last known, at first as it was given.
  private(set) var row: Row
  private var news = News.none

  private enum News {
    case none, updated, deleted
  }

  init(_ type: TypeObservers, _ row: Row, _ handler: @escaping Handler) {
    self.row = row
    super.init(type, handler)
  }

  func apply(_ change: RowChange) {
    guard let new = change.new else {
      news = .deleted
      return
    }
    row = new
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
    case .updated: tell(row)
    case .deleted: end(nil)
    }
  }
}
