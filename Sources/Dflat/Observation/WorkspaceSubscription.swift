// WorkspaceSubscription: the handle that a program keeps while it observes something.

/// A subscription to changes. It lasts as long as a reference to it is kept: releasing it cancels
/// it.
public protocol WorkspaceSubscription: AnyObject, Sendable {
  /// Ends the subscription.
  ///
  /// After this has returned no callback starts; a callback that is already running may still be
  /// running on another thread. Any thread may call this, also from within a callback, and more
  /// than once.
  func cancel()
}
