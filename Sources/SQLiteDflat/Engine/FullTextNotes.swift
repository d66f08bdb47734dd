// Notes on full-text tables that are not in the file: which ones cannot be used.

import Platform
import SQLiteAccess

/// The full-text tables that an engine cannot use.
final class FullTextNotes: Sendable {
  private struct Notes {
    var unsupported: Set<String> = []
    var damaged: [String: Int64] = [:]
  }

  private let notes = Mutex(Notes())

  /// Notes that this SQLite has no full-text tables of the kind.
  /// - Returns: Whether this is new.
  func noteUnsupported(_ table: String) -> Bool {
    notes.withLock { $0.unsupported.insert(table).inserted }
  }

  /// Whether this SQLite can use a table.
  func supports(_ table: String) -> Bool { notes.withLock { !$0.unsupported.contains(table) } }

  /// Notes that a table is damaged.
  /// - Parameter version: SQLite's schema version of the state in which the damage was found. A
  ///   damaged table is replaced, also by other programs, and so the version increases.
  func noteDamaged(_ table: String, at version: Int64) {
    notes.withLock { $0.damaged[table] = max(version, $0.damaged[table] ?? .min) }
  }

  /// Whether a table is known to be damaged, in the state that a connection is reading.
  func isDamaged(_ table: String, on connection: Connection) throws(SQLiteError) -> Bool {
    guard let noted = notes.withLock({ $0.damaged[table] }) else { return false }
    return try connection.schemaVersion() <= noted
  }
}
