// TransactionRecord: one transaction as its client saw it.
//
// The client's thread fills the record before and after the call, the store's thread while the transaction runs and when it
// completes. Nobody reads a record before it has completed, and then the thread that waited for it does.

import Platform

/// What a transaction did with one key.
public enum Operation: Sendable, Equatable {
  /// Saw this; nil if there was nothing.
  case read(Key, CellValue?)
  /// Put a number at the end of the list.
  case append(Key, Int64)
  /// Replaced the register.
  case write(Key, CellValue)
}

/// What became of a transaction.
public enum Outcome: Int64, Sendable {
  /// Nobody has said anything yet.
  case open
  case committed
  /// It was aborted or refused: it did not happen.
  case refused
}

/// One transaction or snapshot of a history.
public final class TransactionRecord: @unchecked Sendable {
  /// Who ran it, unique among all processes.
  public let client: Int
  /// The workspace it ran in, unique among all processes.
  public let workspace: Int
  /// The spaces it named; nil for a snapshot, which names none.
  public let spaces: [Int]?
  /// What it did, in order.
  public var operations: [Operation] = []
  /// How it ended.
  public var outcome = Outcome.open
  /// Nanoseconds of the system's clock before the call.
  public var called: UInt64 = 0
  /// When the call had returned. It does not wait for the transaction.
  public var returned: UInt64 = 0
  /// When the body began, and when it was done; 0 if it never ran.
  public var began: UInt64 = 0, ended: UInt64 = 0
  /// When the client heard of the outcome.
  public var completed: UInt64 = 0

  /// Whether it has written anything.
  public var isWriter: Bool {
    operations.contains { if case .read = $0 { false } else { true } }
  }

  /// A record of a transaction that was not called yet.
  public init(client: Int, workspace: Int, spaces: [Int]?) {
    self.client = client
    self.workspace = workspace
    self.spaces = spaces
  }
}

/// A clock that all processes share and that never goes back.
public enum SharedClock {
  /// Nanoseconds since the system began.
  public static var now: UInt64 {
    #if canImport(Darwin)
      return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)
    #else
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #endif
  }
}
