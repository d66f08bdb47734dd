// TransactionRecord: one transaction as observed by its client.
//
// The client's thread fills the record before and after the call, the store's thread while the
// transaction runs and when it completes. A record is only read after it has completed, by the
// thread that waited for it.

import Platform

/// A transaction's operation on one key.
public enum Operation: Sendable, Equatable {
  /// Read this value; nil if there was none.
  case read(Key, CellValue?)
  /// Appended a number to the list.
  case append(Key, Int64)
  /// Replaced the register.
  case write(Key, CellValue)
  /// Saw that the objects of a family are these; see `FamilyState`.
  case observe(family: Int64, CellValue)
}

/// The outcome of a transaction.
public enum Outcome: Int64, Sendable {
  /// No outcome was reported.
  case open
  case committed
  /// It was aborted or refused: it had no effect.
  case refused
}

/// One transaction or snapshot of a history.
public final class TransactionRecord: @unchecked Sendable {
  /// The client that ran it, unique among all processes.
  public let client: Int
  /// The workspace it ran in, unique among all processes.
  public let workspace: Int
  /// The spaces that it named; nil for a snapshot.
  public let spaces: [Int]?
  /// Its operations, in order.
  public var operations: [Operation] = []
  /// How it ended.
  public var outcome = Outcome.open
  /// Nanoseconds of the system's clock before the call.
  public var called: UInt64 = 0
  /// The time when the call had returned. It does not wait for the transaction.
  public var returned: UInt64 = 0
  /// The times when the body began and ended; 0 if it never ran.
  public var began: UInt64 = 0, ended: UInt64 = 0
  /// The time when the client was notified of the outcome.
  public var completed: UInt64 = 0

  /// Whether it has written anything.
  public var isWriter: Bool {
    operations.contains {
      switch $0 {
      case .read, .observe: false
      case .append, .write: true
      }
    }
  }

  /// Creates a record of a transaction that was not called yet.
  public init(client: Int, workspace: Int, spaces: [Int]?) {
    self.client = client
    self.workspace = workspace
    self.spaces = spaces
  }
}

/// A monotonic clock shared by all processes.
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
