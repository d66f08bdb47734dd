// Savepoint: a part of a transaction that can be undone alone.
//
// Its statements are prepared at their first use and then kept: a transaction of one change spends a good part of its time on
// its savepoint.

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

/// The savepoints of transactions that share a commit, one after another.
///
/// To release one costs more than to begin it. So those that are kept stay open, each inside the one before, until there are some;
/// then the outermost is released, and all others with it. SQLite has a little more to do for a page the more of them are open.
struct MemberSavepoints {
  private static let mostOpen = 4

  private var outermost = Savepoint("members")
  private var inner = Savepoint("member")
  /// How many are kept and not released.
  private var open = 0

  mutating func begin(_ connection: Connection) throws {
    try open == 0 ? outermost.begin(connection) : inner.begin(connection)
  }

  mutating func keep(_ connection: Connection) throws {
    open += 1
    guard open == Self.mostOpen else { return }
    open = 0
    try outermost.keep(connection)
  }

  mutating func undo(_ connection: Connection) throws {
    try open == 0 ? outermost.undo(connection) : inner.undo(connection)
  }

  /// A transaction begins, in which none is open.
  mutating func beginTransaction() { open = 0 }

  /// Lets go of the statements, and not of what is open.
  mutating func dropStatements() {
    outermost = Savepoint("members")
    inner = Savepoint("member")
  }
}
