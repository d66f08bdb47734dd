// ReadInterruption: ends the queries of a read whose task was cancelled.
//
// A read runs on a thread of its own, where the task's state is not visible. So the thread carries
// the read's interruption while it runs, and queries look at it between rows.

import Platform

/// Whether the task of the read that runs on this thread was cancelled. For engines that answer
/// without `RowCollector` and `RowScan`.
package struct ReadCancellation {
  private let interruption: ReadInterruption

  /// nil if the read cannot be cancelled.
  package init?() {
    guard let current = ReadInterruption.current else { return nil }
    interruption = current
  }

  /// Whether the query must end now.
  package var isCancelled: Bool { interruption.isCancelled }

  /// Throws `CancellationError` if the query has to end.
  package func check() throws {
    guard interruption.isCancelled else { return }
    interruption.noteEnd()
    throw CancellationError()
  }
}

/// Ends the queries of a read that runs on another thread. For libraries that have threads of their
/// own; `read` of a workspace uses it for tasks.
package final class ReadInterruption: Sendable {
  private let cancelled = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)

  package init() {}

  /// Ends the queries of the read at their next row, or before if the engine can.
  package func cancel() { cancelled.store(true, ordering: .relaxed) }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Records that a query was ended.
  func noteEnd() { hasEnded.store(true, ordering: .relaxed) }

  /// Calls `body`, whose queries end when the read is cancelled.
  /// - Throws: `CancellationError` if one did, whatever `body` returns.
  package func during<R>(_ body: () throws -> R) throws -> R {
    Self.isUsed.store(true, ordering: .relaxed)
    let outer = Self.pointer.value
    Self.pointer.value = Unmanaged.passUnretained(self).toOpaque()
    defer { Self.pointer.value = outer }
    let result = try body()
    if hasEnded.load(ordering: .relaxed) { throw CancellationError() }
    return result
  }

  /// The interruption of the read that runs on this thread.
  static var current: ReadInterruption? {
    guard isUsed.load(ordering: .relaxed), let current = pointer.value else { return nil }
    return Unmanaged<ReadInterruption>.fromOpaque(current).takeUnretainedValue()
  }

  /// Whether there ever was one: until then no thread-local value is read.
  private static let isUsed = Atomic<Bool>(false)

  private static let pointer = ThreadPointer()
}
