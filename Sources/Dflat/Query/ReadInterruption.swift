// ReadInterruption: ends the queries of a read whose task was cancelled.
//
// A read runs on a thread of its own, where the task's state is not visible. So the thread carries
// the read's interruption while it runs, and queries look at it between rows.

import Platform

final class ReadInterruption: Sendable {
  private let cancelled = Atomic<Bool>(false)
  private let hasEnded = Atomic<Bool>(false)

  /// Ends the queries of the read at their next row.
  func cancel() { cancelled.store(true, ordering: .relaxed) }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Records that a query was ended.
  func noteEnd() { hasEnded.store(true, ordering: .relaxed) }

  /// Calls `body`, whose queries end when the read is cancelled.
  /// - Throws: `CancellationError` if one did, whatever `body` returns.
  func during<R>(_ body: () throws -> R) throws -> R {
    Self.isUsed.store(true, ordering: .relaxed)
    let outer = pthread_getspecific(Self.key)
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(Self.key, outer) }
    let result = try body()
    if hasEnded.load(ordering: .relaxed) { throw CancellationError() }
    return result
  }

  /// The interruption of the read that runs on this thread.
  static var current: ReadInterruption? {
    guard isUsed.load(ordering: .relaxed), let pointer = pthread_getspecific(key) else {
      return nil
    }
    return Unmanaged<ReadInterruption>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Whether there ever was one: until then no thread-local value is read.
  private static let isUsed = Atomic<Bool>(false)

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-local storage is left in this process")
    return key
  }()
}

/// Decides between two rows whether a query must end: its read was cancelled, or a function has
/// failed. Most queries have none.
final class QueryWatch {
  private let interruption: ReadInterruption?
  private let programs: [Program]
  private let schema: EntitySchema
  /// Where the failures of functions go if they do not end the query.
  private let tolerated: FunctionFailures?

  /// nil if nothing can end the query.
  init?(_ query: Query, _ programs: [Program]) {
    interruption = .current
    self.programs = programs.filter { !$0.calls.isEmpty }
    if interruption == nil, self.programs.isEmpty { return nil }
    schema = query.schema
    tolerated = query.failures
  }

  /// Whether the query must end now.
  var isOver: Bool {
    if interruption?.isCancelled == true { return true }
    return tolerated == nil && programs.contains { !$0.failures.isEmpty }
  }

  /// Whether a function of the condition has failed for the last row, in a query that continues
  /// without the row.
  func leavesOutRow(_ condition: Program) -> Bool {
    guard let tolerated else { return false }
    return condition.failures.move(to: tolerated)
  }

  /// Throws why the query has ended.
  func check() throws {
    if let interruption, interruption.isCancelled {
      interruption.noteEnd()
      throw CancellationError()
    }
    for program in programs {
      guard let tolerated else {
        try program.throwFailure(schema)
        continue
      }
      _ = program.failures.move(to: tolerated)
    }
  }
}
