// Repair: a new file with what a damaged one still has.

import Dispatch
import SQLiteAccess
import SQLiteDflat

/// Saves what a damaged file still has into a new one.
///
///     let report = try await Repair.run(from: "blog.db", to: "saved.db")
///     for table in report.tables { print(table.name, table.whole, table.recovered, table.lost) }
///
/// Every page of the file and of its log is looked at, whatever state the file is in: SQLite is not
/// asked to open it. Rows are recognised by the form in which SQLite stores them, and objects by
/// their schema. A row is taken where it belongs, or else from a page that nothing leads to any
/// more, from the log behind damage, or from what is left of a page. What contradicts itself comes
/// into a table of its own, `dflat_doubtful`, and never among the good rows. Deleted rows do not
/// come back as long as the file still says that they were deleted.
///
/// The new file has the same tables. Indexes of Dflat are left out: the first query that uses one
/// builds it. The dictionary, tables of plain SQL, their indexes, triggers and views come along.
public enum Repair {
  /// Saves what a damaged file has into a new one, beside other work.
  ///
  /// - Parameters:
  ///   - source: The damaged file. It is only read, with the `-wal` beside it if there is one. No
  ///     program should use it meanwhile; this process must not have it open, because closing any
  ///     descriptor of a file takes the locks of the process away.
  ///   - target: The new file. Nothing is there yet. It appears when it is whole.
  ///   - schemas: Paths of `.fbs` files, for types whose schema the file does not keep.
  ///   - progress: Called on another thread, now and then, with the number of pages that were found
  ///     to be in use so far. Those of indexes that are left out are looked at only if it must be.
  /// - Returns: What was found and saved.
  /// - Throws: ``ToolError`` if the file cannot be read, it has no pages of a database, a process
  ///   that was killed has moved its log away, the new one cannot be written, or a schema has
  ///   errors.
  public static func run(
    from source: String, to target: String, schemas: [String] = [],
    progress: (@Sendable (_ pages: Int) -> Void)? = nil
  ) async throws -> RepairReport {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            try runAndWait(from: source, to: target, schemas: schemas) { progress?($0) }
          })
      }
    }
  }

  /// Saves what a damaged file has into a new one, on the calling thread.
  ///
  /// - Parameters:
  ///   - source: The damaged file; see ``run(from:to:schemas:progress:)``.
  ///   - target: The new file. Nothing is there yet. It appears when it is whole.
  ///   - schemas: Paths of `.fbs` files, for types whose schema the file does not keep.
  ///   - progress: As that of ``run(from:to:schemas:progress:)``, on this thread.
  /// - Returns: What was found and saved.
  /// - Throws: As ``run(from:to:schemas:progress:)``.
  public static func runAndWait(
    from source: String, to target: String, schemas: [String] = [],
    progress: @escaping (_ pages: Int) -> Void = { _ in }
  ) throws -> RepairReport {
    try DataFile.requireFile(source)
    let given = try schemas.map { try GivenSchema(path: $0) }
    try withToolErrors { try FileReplacement.requireNotInterrupted(source) }
    let pages = try PageSource(path: source)
    let file = try RepairedFile(path: target, pageSize: pages.pageSize, like: source)
    do {
      let run = RepairRun(pages, file, given)
      run.map.onProgress = progress
      let report = try run.run()
      try file.finish()
      return report
    } catch {
      file.discard()
      guard let error = error as? SQLiteError else { throw error }
      throw ToolError(
        .storage, "\(target) cannot be written: \(error.message)",
        advice: "check the folder and its free space")
    }
  }
}
