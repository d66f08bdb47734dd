// IntegrityCheck+Parts: SQLite's own check of the file on one thread, and all others on another.
//
//  - Both see the same state: no connection has committed between the moments at which they began
//    to read. The second connection's `data_version` shows that. Otherwise one thread does both.
//  - The findings of the file come first, as if it had been checked first.

import Dispatch
import Platform
import SQLiteAccess

extension IntegrityCheck {
  /// Begins to read.
  /// - Returns: Whether the second connection does so, too, and sees the same state.
  func begin() throws(SQLiteError) -> Bool {
    let before = try? second?.dataVersion()
    try connection.begin(.deferred)
    guard let second, let before, ScanSizes.processors > 1,
      (try? connection.pageCount()) ?? 0 >= leastPages,
      (try? second.begin(.deferred)) != nil
    else { return false }
    return (try? second.pageCount()) != nil && (try? second.dataVersion()) == before
  }

  mutating func runParts(
    _ tables: [TableSQL], _ more: @escaping (inout IntegrityCheck) throws -> Void
  ) throws {
    guard let second else { return }
    // Each is used by one of the two threads until `concurrentPerform` returns.
    let parts = [
      Confined(shared: Part(self) { try $0.checkTypes(tables, more) }),
      Confined(shared: Part(IntegrityCheck(second, limit, scope)) { try $0.checkFile() }),
    ]
    DispatchQueue.concurrentPerform(iterations: 2) { part in
      parts[part].withValue { $0.run() }
    }
    let checks = try parts.map { part in try part.withValue { try $0.ended() } }
    self = checks[0]
    findings = Array((checks[1].findings + findings).prefix(limit))
    notes = Array((checks[1].notes + notes).prefix(limit))
  }
}

/// A part of a check, on a connection of its own.
private final class Part {
  private var check: IntegrityCheck
  private let body: (inout IntegrityCheck) throws -> Void
  private var result = Result<Void, any Error>.success(())

  init(_ check: IntegrityCheck, _ body: @escaping (inout IntegrityCheck) throws -> Void) {
    self.check = check
    self.body = body
  }

  func run() { result = Result { try body(&check) } }

  /// The check, when it has run.
  func ended() throws -> IntegrityCheck {
    try result.get()
    return check
  }
}
