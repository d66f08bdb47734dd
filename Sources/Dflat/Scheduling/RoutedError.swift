// RoutedError: errors with a handler of their own, for layers over workspaces.
//
// Such an error is reported to the error hook, which knows when no lock is held.

/// An error that may have a handler of its own, besides that of the workspace.
package protocol RoutedError: Error {
  /// Calls the error's own handler.
  /// - Returns: Whether it has one.
  func deliver() -> Bool
  /// What is reported to the workspace's handler otherwise.
  var reported: any Error { get }
}
