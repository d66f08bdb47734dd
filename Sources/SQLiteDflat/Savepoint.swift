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
