// StandbyReads: whether a standby may answer a query.
//
// A position in the write-ahead log says how far a server is: what the primary had committed when
// it was at a position, a standby shows once it has applied the log up to there. Positions of
// different timelines cannot be compared.
//
//  - `floor`: where a standby must be. After each commit of the workspace it is behind the commit.
//    The primary may also have shown something, to a transaction or a live result: then it is asked
//    for its position before the next query on a standby. So no query shows less than the workspace
//    has stored or shown before.
//  - Samples: positions of the primary with the times before they were read. A standby that is at a
//    sample has all that was committed at its time. This needs no clock that servers share, and a
//    standby that is cut off from the primary cannot pass for one that is up to date.
//  - One standby after another: a query on another standby than the one before must find all that
//    the primary has now, which is no less than the other one has shown.
//  - A standby that is not there, or does not get that far in time, is left alone for a while.

import CPostgres
import Dflat
import Platform

/// How far a server is.
struct WALPosition: Sendable {
  /// nil if the server does not say it.
  let timeline: Int?
  let lsn: UInt64

  /// Whether a server at this position has everything up to another one.
  func covers(_ other: WALPosition) -> Bool {
    guard lsn >= other.lsn else { return false }
    return other.timeline.map { $0 == timeline } ?? true
  }
}

final class StandbyReads: Sendable {
  fileprivate struct State {
    var floor: WALPosition?
    /// How often the primary has shown something, and how much of that `floor` covers.
    var shown = 0
    var covered = 0
    var samples: [(time: UInt64, position: WALPosition)] = []
    /// The standby that has answered last.
    var server: String?
    /// No standby is asked before this time.
    var resumes: UInt64 = 0
    var pause: UInt64 = 0
  }

  /// The connections to standbys.
  let pool: ConnectionPool
  private let primary: ConnectionPool
  /// How late a state may be, in nanoseconds.
  private let freshness: UInt64?
  private let patience: UInt64
  private let state = Mutex(State())
  private static let shortestPause: UInt64 = 100_000_000
  private static let longestPause: UInt64 = 5_000_000_000

  /// - Parameters:
  ///   - primary: Lends connections to the primary.
  ///   - freshness: How late a state may be; nil for no limit.
  ///   - patience: How long a query waits for a standby.
  init(
    _ pool: ConnectionPool, primary: ConnectionPool, freshness: Duration?, patience: Duration
  ) {
    self.pool = pool
    self.primary = primary
    self.freshness = freshness.map(MonotonicTime.nanoseconds)
    self.patience = MonotonicTime.nanoseconds(patience)
  }

  // MARK: What was shown

  /// Called before a caller learns of something that the primary has shown or stored.
  func notePrimary() { state.withLock { $0.shown += 1 } }

  /// Called after a commit, before its caller learns of it.
  /// - Parameter position: Where the primary was afterwards; nil if it has not said that.
  func noteCommit(_ position: WALPosition?) {
    state.withLock { state in
      if let position { state.raise(to: position) } else { state.shown += 1 }
    }
  }

  // MARK: Standbys

  /// Whether a standby may be asked now.
  var mayAsk: Bool { state.withLock { $0.pause == 0 || MonotonicTime.now >= $0.resumes } }

  /// Called when a standby could not answer.
  func noteFailure() {
    state.withLock { state in
      state.pause = min(max(2 * state.pause, Self.shortestPause), Self.longestPause)
      state.resumes = MonotonicTime.now + state.pause
    }
  }

  /// Returns whether the next query on a connection shows what it must, and waits for that.
  func admits(_ connection: Connection) throws -> Bool {
    let start = MonotonicTime.now
    try prepare(for: connection)
    var pause: UInt32 = 1000
    while !isEnough(connection) {
      guard let position = try Self.position(ofStandby: connection) else {
        _ = connection.lost(.promoted)
        return false
      }
      connection.own.position = position
      if isEnough(connection) { break }
      if MonotonicTime.now - start >= patience { return false }
      usleep(pause)
      pause = min(2 * pause, 16_000)
    }
    state.withLock { state in
      state.server = connection.server
      state.pause = 0
    }
    return true
  }

  /// Asks the primary where it is, if that must be known for a query on a connection.
  private func prepare(for connection: Connection) throws {
    let now = MonotonicTime.now
    let shown = state.withLock { state -> Int? in
      if let last = state.server, last != connection.server {
        state.server = connection.server
        state.shown += 1
      }
      let isOld = freshness.map { limit in
        state.samples.last.map { now - $0.time > limit / 2 } ?? true
      }
      return isOld == true || state.covered < state.shown ? state.shown : nil
    }
    guard let shown else { return }
    let position = try primary.withConnection(beyondLimit: true) { connection in
      try Self.position(ofPrimary: connection)
    }
    state.withLock { state in
      state.samples.removeAll { now >= $0.time && now - $0.time > freshness ?? 0 }
      state.samples.append((now, position))
      state.samples.sort { $0.time < $1.time }
      if state.covered < shown {
        state.covered = shown
        state.raise(to: position)
      }
    }
  }

  /// Whether the position that a connection has last shown is enough.
  private func isEnough(_ connection: Connection) -> Bool {
    let now = MonotonicTime.now
    return state.withLock { state in
      if state.floor == nil, freshness == nil { return true }
      guard let position = connection.own.position else { return false }
      if let floor = state.floor, !position.covers(floor) { return false }
      guard let freshness else { return true }
      return state.samples.contains { sample in
        (now <= sample.time || now - sample.time <= freshness) && position.covers(sample.position)
      }
    }
  }

  // MARK: Positions

  /// The statement that a primary answers with its position, as text.
  static let selectPosition =
    "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')"

  private static func position(ofPrimary connection: Connection) throws -> WALPosition {
    let lsn = try connection.execute(selectPosition).text(0, 0)
    return WALPosition(timeline: connection.own.server?.timeline, lsn: UInt64(lsn) ?? .max)
  }

  /// - Returns: nil if it is a standby no more.
  private static func position(ofStandby connection: Connection) throws -> WALPosition? {
    let rows = try connection.execute(
      "SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), "
        + ServerIdentity.timelineOfStandby)
    guard rows.text(0, 0) == "t" else { return nil }
    return WALPosition(
      timeline: rows.isNull(0, 2) ? nil : Int(rows.text(0, 2)), lsn: UInt64(rows.text(0, 1)) ?? 0)
  }
}

extension StandbyReads.State {
  /// A newer timeline has everything that is left of an older one.
  fileprivate mutating func raise(to position: WALPosition) {
    guard let floor else { return self.floor = position }
    let (old, new) = (floor.timeline ?? 0, position.timeline ?? 0)
    if new > old || new == old && position.lsn > floor.lsn { self.floor = position }
  }
}

extension Connection {
  /// The address of the server.
  fileprivate var server: String {
    func text(_ value: UnsafePointer<CChar>?) -> String { value.map { String(cString: $0) } ?? "" }
    return "\(text(PQhost(handle))) \(text(PQport(handle)))"
  }
}
