// Checking a file: the same check that programs have, with all types that the file knows.

import Dflat
public import SQLiteDflat

extension DataFile {
  /// Checks the whole file without changing anything, beside running programs: SQLite's own
  /// structures, each object against its checksum and its schema, the key columns, all kinds of
  /// indexes, references, the dictionary, the marks of indexes, and the schemas that the file
  /// keeps.
  ///
  /// It reads one state of the file. Memory is bounded; see `SQLiteWorkspace.check(_:)`.
  /// - Parameters:
  ///   - limit: How many findings are reported at most.
  ///   - progress: Called now and then with how far it is.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func check(
    limit: Int = 100, _ progress: (@Sendable (CheckProgress) -> Void)? = nil
  ) throws -> CheckReport {
    var options = CheckOptions()
    options.findingLimit = max(1, limit)
    options.onProgress = progress
    return try withToolErrors {
      try workspace.inspect { connection in
        try FileCheck.report(on: connection, of: types.compactMap(\.entity), options)
      }
    }
  }
}
