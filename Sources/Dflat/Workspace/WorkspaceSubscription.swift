// WorkspaceSubscription: what a program keeps while it watches something.

/// Something that is watched. Releasing the last reference cancels it.
public protocol WorkspaceSubscription: AnyObject, Sendable {
  /// Ends the subscription.
  ///
  /// After this has returned no callback starts; one that is running already may still be running on another thread. Any thread
  /// may call, also from within a callback, and more than once.
  func cancel()
}

extension Workspace {
  /// What watching gives; to be kept.
  public typealias Subscription = WorkspaceSubscription
}
