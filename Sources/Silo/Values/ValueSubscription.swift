// ValueSubscription: the handle that a subscriber of a store keeps.

/// A subscription to the changes of a store. Releasing it ends it.
public final class ValueSubscription: Sendable {
  private let end: @Sendable () -> Void

  /// - Parameter end: Ends the subscription.
  package init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
