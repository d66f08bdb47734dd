// Savepoint: a part of a transaction that can be rolled back on its own.
//
// Its statements are prepared at their first use and then kept: a transaction with a single change
// spends a good part of its time on its savepoint.

import Dflat
import SQLiteAccess

/// A savepoint of the writer. It is begun, and then either kept or undone.
struct Savepoint {
  private var beginning: KeptStatement
  private var release: KeptStatement
  private var undoing: KeptStatement

  init(_ name: String) {
    beginning = KeptStatement("SAVEPOINT \(name)")
    release = KeptStatement("RELEASE \(name)")
    undoing = KeptStatement("ROLLBACK TO \(name)")
  }

  mutating func begin(_ connection: Connection) throws {
    try beginning.on(connection).run()
  }

  /// Keeps the changes made since it was begun.
  mutating func keep(_ connection: Connection) throws {
    try release.on(connection).run()
  }

  /// Undoes the changes made since it was begun.
  mutating func undo(_ connection: Connection) throws {
    try undoing.on(connection).run()
    try release.on(connection).run()
  }
}

/// Separates the transactions that share a commit: from the beginning of each one, everything can
/// be undone.
///
/// A savepoint costs a third of what replacing a row does, plus a copy of each page that is changed
/// after it. Most transactions replace one row and do nothing else. So the first row of a
/// transaction is replaced without a savepoint, and its old value is remembered, as long as no key
/// or side table is affected: to undo that, the old row is written back. Later changes have a
/// savepoint.
///
/// Releasing a savepoint costs more than beginning one. So kept savepoints stay open, each nested
/// in the one before, up to a limit; then the outermost is released, and all others with it. The
/// more of them are open, the more SQLite has to do for each page.
struct MemberSavepoints {
  private static let mostOpen = 4

  /// A row as it was before it was replaced.
  typealias Replaced = (table: WriterTable, row: Row)

  private enum Phase {
    /// No transaction has begun.
    case none
    /// A transaction has begun, and has no savepoint yet.
    case marked
    case begun
  }

  private var outermost = Savepoint("members")
  private var inner = Savepoint("member")
  private var phase = Phase.none
  private var replaced: Replaced?
  /// How many savepoints are kept and not released.
  private var open = 0

  /// Begins a transaction: everything from here on can be undone.
  mutating func mark() {
    phase = .marked
    replaced = nil
  }

  /// Whether the next write may have to be undone and has no savepoint.
  var isMarked: Bool { phase == .marked }

  /// Whether one row can be replaced now without a savepoint.
  var isUntouched: Bool { phase == .marked && replaced == nil }

  /// Records that one row was replaced.
  mutating func replaced(_ row: Row, in table: WriterTable) { replaced = (table, row) }

  /// Whether there is a savepoint: then undoing may also undo changes to tables.
  var hasBegun: Bool { phase == .begun }

  /// Begins the savepoint if one is needed and there is none. After that, anything may be written.
  mutating func begin(_ connection: Connection) throws {
    guard phase == .marked else { return }
    try open == 0 ? outermost.begin(connection) : inner.begin(connection)
    phase = .begun
  }

  /// Keeps the changes made since the mark.
  mutating func keep(_ connection: Connection) throws {
    defer { end() }
    guard phase == .begun else { return }
    open += 1
    guard open == Self.mostOpen else { return }
    open = 0
    try outermost.keep(connection)
  }

  /// Undoes the changes made since the mark.
  /// - Returns: The row that the caller must then write back.
  mutating func undo(_ connection: Connection) throws -> Replaced? {
    defer { end() }
    if phase == .begun { try open == 0 ? outermost.undo(connection) : inner.undo(connection) }
    return replaced
  }

  private mutating func end() {
    phase = .none
    replaced = nil
  }

  /// Resets the state for a new transaction of the storage, in which no savepoint is open.
  mutating func beginTransaction() {
    open = 0
    end()
  }

  /// Releases the statements; open savepoints stay open.
  mutating func dropStatements() {
    outermost = Savepoint("members")
    inner = Savepoint("member")
  }
}
