// Which threads closures of awaited transactions run on.

/// Whether the running closure of an awaited `write` is on a queue of the workspace, and not on a
/// thread of the task pool: there, its task has no executor of its own.
public func isOnWorkspaceQueue() -> Bool {
  withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
}
