// What is undone by itself: the changes of one transaction of a group, and a request that needs
// several statements.

import Dflat
import SQLiteAccess

extension SQLiteWriter {
  func beginSubtransaction() {
    tables.sameLength.end()
    tables.members.mark()
  }

  func endSubtransaction(keeping: Bool) throws {
    tables.sameLength.end()
    if keeping {
      return try withStorageErrors {
        try tables.settleTexts(connection)
        try tables.members.keep(connection)
      }
    }
    if tables.members.hasBegun { tables.forget() }
    try withStorageErrors {
      guard let replaced = try tables.members.undo(connection) else { return }
      try replaced.row.withBytes { try updateMain(replaced.table, replaced.row.id, $0) }
    }
  }

  /// Separates what follows from the transactions that share the commit.
  func beginMember() throws {
    try tables.settleTexts(connection)
    try tables.members.begin(connection)
  }

  func atomically<R>(_ needsSavepoint: Bool, _ body: () throws -> R) throws -> R {
    try withStorageErrors {
      if !needsSavepoint { return try body() }
      try tables.settleTexts(connection)
      try tables.change.begin(connection)
      do {
        let result = try body()
        try tables.settleTexts(connection)
        try tables.change.keep(connection)
        return result
      } catch {
        // After some errors SQLite has rolled back everything.
        if connection.isInTransaction { try tables.change.undo(connection) }
        throw error
      }
    }
  }
}
