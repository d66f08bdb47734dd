// LiveValue: an answer that is always up to date, for Swift's Observation framework.

public import Dispatch
public import Observation
import Platform

/// The answer to a request, which follows the data and notifies Swift's Observation of changes.
///
///     let unread = dflat.query(Article.self).where(!Article.isRead)
///     let number = try LiveValue(unread.computing(.count))
///     let feeds = try LiveValue(unread.grouped(by: Article.feed, .count))
///     print(number.value, feeds.value.count)
///
/// A view that reads `value` is rendered again when it has changed. Other programs use
/// `withObservationTracking` to learn of the next change. The request is followed as long as the
/// object exists. In SwiftUI `Fetched` makes one for a property.
public final class LiveValue<Value: Sendable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let shown: CoalescedValue<Value>

  /// Follows a request.
  ///
  /// - Parameters:
  ///   - request: The request. Its workspace is not kept alive.
  ///   - queue: The queue on which `value` changes. It must be serial; the default is the main
  ///     queue, for views. Of several transactions that commit before it is free only the last
  ///     state is shown. With nil, `value` changes where callbacks run, and so, for a maintained
  ///     request, before the completion handler of the transaction that has changed it.
  /// - Throws: What `fetch` of the request throws, if the first value cannot be read.
  public convenience init(
    _ request: some Request<Value>, on queue: DispatchQueue? = .main
  ) throws {
    let form = request._form
    let first = try form.fetch()
    self.init(first, on: queue) { show in
      let fetched = Mutex<Value?>(first)
      return form.follow(form.core) { value in
        // The subscription begins with the answer at its position, mostly the one that was fetched.
        if let first = fetched.withLock({ $0.take() }), areKnownToBeEqual(first, value) { return }
        show(value)
      }
    }
  }

  /// - Parameters:
  ///   - value: The first value.
  ///   - queue: The queue on which it changes.
  ///   - follow: Subscribes a handler to the values after it.
  init(
    _ value: Value, on queue: DispatchQueue?,
    following follow: (@escaping @Sendable (Value) -> Void) -> any WorkspaceSubscription
  ) {
    shown = CoalescedValue(value, on: queue)
    shown.keep(follow { [weak self] value in self?.take(value) })
  }

  /// The value as it is now.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return shown.value
  }

  private func take(_ value: Value) {
    shown.take(value) { [weak self] in self?.show() }
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.value) { shown.advance() }
  }
}

/// Whether two values are equal, if their type can tell.
private func areKnownToBeEqual<Value>(_ one: Value, _ other: Value) -> Bool {
  func isEqual<E: Equatable>(_ one: E) -> Bool { other as? E == one }
  return (one as? any Equatable).map { isEqual($0) } ?? false
}
