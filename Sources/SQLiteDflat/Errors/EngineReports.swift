// EngineReports: what an engine tells the program without being asked.
//
// Errors that cannot be thrown to a caller go to the workspace's error hook, events to the hook of
// the configuration. Events are delivered in order, and outside of all locks.

import Dflat
import Dispatch
import Platform

final class EngineReports: Sendable {
  private let errorHook = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  private let eventHook: (@Sendable (SQLiteWorkspace.Event) -> Void)?
  private let reported = Mutex<Set<String>>([])
  private let queue = DispatchQueue(label: "dflat.eventQueue")

  init(onEvent eventHook: (@Sendable (SQLiteWorkspace.Event) -> Void)?) {
    self.eventHook = eventHook
  }

  /// Sets the function that receives errors.
  func connect(_ errorHook: @escaping @Sendable (any Error) -> Void) {
    self.errorHook.withLock { $0 = errorHook }
  }

  func report(_ error: any Error) {
    errorHook.withLock { $0 }?(error)
  }

  /// Reports each error only once.
  func reportOnce(_ error: StorageError) {
    if reported.withLock({ $0.insert("\(error)").inserted }) { report(error) }
  }

  /// Reports an error where locks are held.
  func reportLater(_ error: any Error) {
    queue.async { [self] in report(error) }
  }

  func deliver(_ event: SQLiteWorkspace.Event) {
    if let eventHook { queue.async { eventHook(event) } }
  }
}
