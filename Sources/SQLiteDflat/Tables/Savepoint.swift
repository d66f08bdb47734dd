// Savepoint: a part of a transaction that can be undone alone.
//
// Its statements are prepared at their first use and then kept: a transaction of one change spends
// a good part of its time on its savepoint.

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

  /// Keeps what was done since it was begun.
  mutating func keep(_ connection: Connection) throws {
    try release.on(connection).run()
  }

  /// Undoes what was done since it was begun.
  mutating func undo(_ connection: Connection) throws {
    try undoing.on(connection).run()
    try release.on(connection).run()
  }
}

/// What sets the transactions that share a commit apart: where one has begun, everything behind can
/// be undone.
///
/// A savepoint costs a third of what replacing a row does, and a copy of each page that is changed
/// behind it. Most transactions replace one row and do nothing else. So the first row of a
/// transaction is replaced without, and remembered, as long as no key or side table follows: to
/// undo that, the old row is put back. What comes after it has a savepoint.
///
/// To release a savepoint costs more than to begin it. So those that are kept stay open, each
/// inside the one before, until there are some; then the outermost is released, and all others with
/// it. SQLite has a little more to do for a page the more of them are open.
struct MemberSavepoints {
  private static let mostOpen = 4

  /// A row as it was before it was replaced.
  typealias Replaced = (table: WriterTable, row: Row)

  private enum Phase {
    /// Nothing has to be undone alone.
    case none
    /// A transaction has begun, and nothing of it has a savepoint.
    case marked
    case begun
  }

  private var outermost = Savepoint("members")
  private var inner = Savepoint("member")
  private var phase = Phase.none
  private var replaced: Replaced?
  /// How many are kept and not released.
  private var open = 0

  /// Everything behind this can be undone.
  mutating func mark() {
    phase = .marked
    replaced = nil
  }

  /// Whether what is written next may have to be undone, and has no savepoint.
  var isMarked: Bool { phase == .marked }

  /// Whether one row can be replaced now without a savepoint.
  var isUntouched: Bool { phase == .marked && replaced == nil }

  /// That was done.
  mutating func replaced(_ row: Row, in table: WriterTable) { replaced = (table, row) }

  /// Whether there is a savepoint: what is known of tables may be undone with it.
  var hasBegun: Bool { phase == .begun }

  /// Begins the savepoint, if there has to be one and is none: anything may be written behind it.
  mutating func begin(_ connection: Connection) throws {
    guard phase == .marked else { return }
    try open == 0 ? outermost.begin(connection) : inner.begin(connection)
    phase = .begun
  }

  /// Keeps what was done since the mark.
  mutating func keep(_ connection: Connection) throws {
    defer { end() }
    guard phase == .begun else { return }
    open += 1
    guard open == Self.mostOpen else { return }
    open = 0
    try outermost.keep(connection)
  }

  /// Undoes what was done since the mark.
  /// - Returns: What is to be put back then.
  mutating func undo(_ connection: Connection) throws -> Replaced? {
    defer { end() }
    if phase == .begun { try open == 0 ? outermost.undo(connection) : inner.undo(connection) }
    return replaced
  }

  private mutating func end() {
    phase = .none
    replaced = nil
  }

  /// A transaction of the storage begins, in which none is open.
  mutating func beginTransaction() {
    open = 0
    end()
  }

  /// Lets go of the statements, and not of what is open.
  mutating func dropStatements() {
    outermost = Savepoint("members")
    inner = Savepoint("member")
  }
}
