// TargetFile: a file that a tool writes objects to, as programs do.
//
//  - Everything is an ordinary transaction of a workspace: key columns, side tables and marks are
//    written with the objects, and running programs see it.
//  - No `DataFile` of the same file is opened or closed while it is open: that would take the locks
//    of the workspace away.

import Dflat
import SQLiteDflat

/// A file that is written to. It is created with the first transaction if it is not there.
struct TargetFile {
  private let workspace: SQLiteWorkspace

  init(_ path: String) {
    var configuration = SQLiteWorkspace.Configuration()
    // A transaction that changes many objects writes each page once.
    configuration.writerCacheSize = 64 << 20
    configuration.walLimit = 16 << 20
    configuration.keepsUndoInMemory = true
    workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
  }

  /// Closes the file.
  func close() { workspace.shutdown() }

  /// Runs a transaction, once.
  /// - Throws: `StorageError`; the errors of `body`.
  func write<R>(_ entities: [EntitySchema], _ body: (WriteContext) throws -> R) throws -> R {
    try workspace.write(schemas: entities, attempts: 1) { context in
      // Nothing is read before the first change, so nothing has to be read again.
      try context.beginWriting()
      return try body(context)
    }
  }
}
