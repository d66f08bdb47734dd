// What tools ask a file beside its objects.

import Dflat
package import SQLiteAccess

extension SQLiteWorkspace {
  /// Calls `body` with one of the connections that read the file. It may be called again if the
  /// file is read without locks, and is changed meanwhile.
  /// - Throws: `StorageError`; the errors of `body`.
  package func inspect<R>(_ body: (Connection) throws -> R) throws -> R {
    do { return try engine.onReader(for: .query, body) } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }
}
