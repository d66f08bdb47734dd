// ChangeListener: the connection that is told when other workspaces have committed.
//
// It waits on its socket without a thread, and everything it does runs on its queue. A notification
// only wakes up the reader of the log (see `ChangeLog`), which has what was changed. So a lost
// connection loses nothing: once there is a new one, the log is read.
//
// A writer that has looked for listeners before this one had its lock does not notify it. Such a
// transaction has a lower number than one that begins after that; so the log is also read, from
// time to time, until all transactions with lower numbers have ended.
//
// A notification may also be lost with the process that was about to send it. So the log is read
// now and then without one.

import Dflat
import Dispatch
import Platform

final class ChangeListener: Sendable {
  typealias Handler = @Sendable () -> Void

  private struct State {
    var handler: Handler?
    var connection: Connection?
    var source: (any DispatchSourceRead)?
    var isClosed = false
    /// How long to wait before connecting once more.
    var pause: UInt64 = 100_000_000
  }

  private let connector: Connector
  private let log: ChangeLog
  private let events: EventRecorder
  /// The workspace's own notifications are ignored.
  private let workspace: String
  /// After how many nanoseconds the log is read without a notification.
  private let pause: UInt64
  private let report: @Sendable (StorageError) -> Void
  private let queue = DispatchQueue(label: "dflat.listener")
  private let state = Mutex(State())
  private static let longestPause: UInt64 = 30_000_000_000

  /// - Parameters:
  ///   - pause: How often the log is read without a notification.
  ///   - report: Called if there can be no connection.
  init(
    _ connector: Connector, _ log: ChangeLog, _ events: EventRecorder, workspace: String,
    looksEvery pause: Duration, report: @escaping @Sendable (StorageError) -> Void
  ) {
    self.pause = MonotonicTime.nanoseconds(pause)
    self.connector = connector
    self.log = log
    self.events = events
    self.workspace = workspace
    self.report = report
  }

  /// Begins to listen. Called once.
  /// - Parameter handler: Called when other workspaces may have committed.
  func start(_ handler: @escaping Handler) {
    state.withLock { $0.handler = handler }
    queue.async { [weak self] in self?.connect() }
  }

  func close() {
    state.withLock { state in
      state.source?.cancel()
      state = State(isClosed: true)
    }
  }

  private func wakeUp() { state.withLock { $0.handler }?() }

  // MARK: On the queue

  private func connect() {
    if state.withLock({ $0.isClosed }) { return }
    do {
      let connection = try connector.connect(.listening)
      try connection.execute(log.listen)
      // After the lock: writers that have looked for it before have lower numbers. A snapshot does
      // not have all of them: its end is the greatest number of those that have ended.
      let end = try connection.execute("SELECT pg_current_xact_id()").text(0, 0)
      // The library closes the socket of a connection that has ended, and its number may be used
      // again before the source is cancelled. So the source has a number of its own.
      let socket = fcntl(connection.socket, F_DUPFD_CLOEXEC, 0)
      guard socket >= 0 else { throw Self.systemError(errno) }
      state.withLock { state in
        if state.isClosed {
          _ = Platform.close(socket)
          return
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        source.setEventHandler { [weak self] in self?.receive() }
        // The connection is closed behind the source.
        source.setCancelHandler { withExtendedLifetime(connection) { _ = Platform.close(socket) } }
        source.activate()
        state.connection = connection
        state.source = source
        state.pause = 100_000_000
      }
      events.note(.listening)
      settle(connection, until: end, after: 10_000_000)
      lookLater(with: connection)
    } catch {
      connectAgain(after: error)
    }
  }

  /// Has the log read now and then, as long as a connection listens.
  private func lookLater(with connection: Connection) {
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(pause))) { [weak self, weak connection] in
      guard let self, let connection, state.withLock({ $0.connection === connection }) else {
        return
      }
      wakeUp()
      lookLater(with: connection)
    }
  }

  private static func systemError(_ number: Int32) -> PostgresError {
    PostgresError(
      state: "", message: "a connection cannot be watched: \(String(cString: strerror(number)))",
      isConnectionLost: false)
  }

  private func connectAgain(after error: any Error) {
    let cause = error as? PostgresError ?? (error as? StorageError)?.underlying as? PostgresError
    // A standby cannot notify: then this waits until it is one no more.
    if cause?.isConnectionLost != true, cause?.state != "25006" {
      report(error as? StorageError ?? cause.map { StorageError($0) } ?? .listening(error))
    }
    let pause = state.withLock { state in
      defer { state.pause = min(2 * state.pause, Self.longestPause) }
      return state.pause
    }
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(pause))) { [weak self] in
      self?.connect()
    }
  }

  /// The connection was lost: another one takes its place.
  private func replace(_ connection: Connection) {
    let isCurrent = state.withLock { state in
      guard state.connection === connection else { return false }
      state.connection = nil
      state.source?.cancel()
      state.source = nil
      return true
    }
    if isCurrent {
      events.note(.stoppedListening)
      connect()
    }
  }

  /// Something has arrived, or the connection has ended.
  private func receive() {
    guard let connection = state.withLock({ $0.connection }) else { return }
    do {
      if try connection.takeNotifications().contains(where: { $0 != workspace }) { wakeUp() }
    } catch {
      replace(connection)
    }
  }

  /// Has the log read until all transactions with lower numbers than one that has ended have ended.
  private func settle(_ connection: Connection, until end: String, after pause: UInt64) {
    guard state.withLock({ $0.connection === connection }) else { return }
    do {
      let isSettled = try connection.execute(
        "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= '\(end)'"
      ).text(0, 0)
      wakeUp()
      // The statement may have read notifications from the socket.
      receive()
      if isSettled == "t" { return }
    } catch {
      return replace(connection)
    }
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(pause))) { [weak self] in
      self?.settle(connection, until: end, after: min(2 * pause, 1_000_000_000))
    }
  }
}

extension StorageError {
  fileprivate static func listening(_ error: any Error) -> StorageError {
    StorageError(
      .other, message: "changes by other programs cannot be followed: \(error)", underlying: error)
  }
}
