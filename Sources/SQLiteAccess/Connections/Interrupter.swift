// Interrupting a connection from other threads.
//
// SQLite allows this one call from other threads as long as the connection is open. The lock here
// ensures that: closing removes the handle under it.

import CSQLite
import Platform

/// Interrupts the work of a connection, from any thread.
///
/// Unlike the connection it may be shared and kept; after the connection was closed it does
/// nothing.
public final class Interrupter: Sendable {
  // The address of the handle, 0 after closing. It is a number because a pointer is not `Sendable`.
  private let address: Mutex<UInt>

  init(_ database: OpaquePointer) {
    address = Mutex(UInt(bitPattern: database))
  }

  /// Makes the connection's running statements fail with ``ResultCode/interrupt``.
  ///
  /// The changes of a writing statement are undone, usually with its whole transaction. If no
  /// statement is running, nothing happens.
  public func interrupt() {
    address.withLock { address in
      if let database = OpaquePointer(bitPattern: address) { sqlite3_interrupt(database) }
    }
  }

  func disconnect() {
    address.withLock { $0 = 0 }
  }
}

extension Connection {
  /// An object with which other threads may interrupt this connection's statements.
  public var interrupter: Interrupter { interruption }

  /// Makes the connection's running statements fail with ``ResultCode/interrupt``.
  ///
  /// Call it from a function or a progress callback on the same thread; other threads use
  /// ``interrupter``.
  public func interrupt() {
    interruption.interrupt()
  }

  /// Makes SQLite forget an interruption that no statement has met.
  ///
  /// SQLite does so when the next statement begins, but not before a checkpoint, which would end.
  func forgetIdleInterruption() {
    guard let database else { return }
    var none: OpaquePointer?
    _ = sqlite3_prepare_v2(database, "", -1, &none, nil)
  }

  /// Runs `body`, and makes its statements fail with ``ResultCode/interrupt`` once a condition holds.
  ///
  /// Calls nest: inside of `body` the conditions of the calls around this one count as well. All
  /// are asked as often as the one with the smallest `count`.
  ///
  /// - Parameters:
  ///   - count: The number of instructions of SQLite's virtual machine between two questions.
  ///   - condition: Asked on this thread.
  ///   - body: Uses this connection.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`.
  /// - Note: [`sqlite3_progress_handler`](https://www.sqlite.org/c3ref/progress_handler.html).
  public func interrupting<R: ~Copyable>(
    every count: Int = 10, when condition: () -> Bool, _ body: () throws -> R
  ) rethrows -> R {
    if isClosed { return try body() }
    return try withoutActuallyEscaping(condition) { condition in
      let outer = progressQuestion
      let question = ProgressQuestion(condition, every: count, inside: outer)
      ask(question)
      defer { ask(outer) }
      return try withExtendedLifetime(question) { try body() }
    }
  }

  private func ask(_ question: ProgressQuestion?) {
    progressQuestion = question
    guard let database else { return }
    guard let question else { return sqlite3_progress_handler(database, 0, nil, nil) }
    sqlite3_progress_handler(
      database, Int32(clamping: question.count),
      { Unmanaged<ProgressQuestion>.fromOpaque($0!).takeUnretainedValue().isDue() ? 1 : 0 },
      Unmanaged.passUnretained(question).toOpaque())
  }
}

/// The conditions of the calls of `interrupting` that are under way.
final class ProgressQuestion {
  /// The number of instructions between two questions.
  let count: Int
  private let condition: () -> Bool
  private let outer: ProgressQuestion?

  init(_ condition: @escaping () -> Bool, every count: Int, inside outer: ProgressQuestion?) {
    self.condition = condition
    self.count = max(1, min(count, outer?.count ?? .max))
    self.outer = outer
  }

  func isDue() -> Bool { condition() || outer?.isDue() == true }
}
