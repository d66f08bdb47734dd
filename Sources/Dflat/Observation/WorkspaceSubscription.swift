// WorkspaceSubscription: what a program holds as long as it observes something.

/// Something that is watched. It lasts as long as it is kept: to release it is to cancel it.
public protocol WorkspaceSubscription: AnyObject, Sendable {
  /// Ends the subscription.
  ///
  /// After this has returned no callback starts; one that is running already may still be running on another thread. Any thread
  /// may call, also from within a callback, and more than once.
  func cancel()
}
