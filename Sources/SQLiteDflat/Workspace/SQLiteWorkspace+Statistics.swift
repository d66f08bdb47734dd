// What a workspace says about its file at a moment.

import Dflat
import Platform
import SQLiteAccess

extension SQLiteWorkspace {
  /// How the pages of the file are used, and which readers keep the log from being moved into it.
  ///
  ///     let statistics = try await dflat.statistics()
  ///     for use in statistics.uses { print(use.name, use.bytes) }
  ///     for reader in statistics.logReaders { print(reader.process ?? 0, reader.program ?? "") }
  ///
  /// It reads the whole file, in one state. The sizes are those that `dflat stats` prints. Types
  /// have names as far as the workspace has used them since it was opened. On systems other than
  /// Linux the readers of the log are not known.
  ///
  /// - Returns: For a file that does not exist yet everything is empty.
  /// - Throws: `StorageError` if the file cannot be read, or this SQLite has no `dbstat`;
  ///   `WorkspaceError.shutDown`. It can be called on any thread.
  public func statistics() async throws -> FileStatistics {
    try await _core.accepted { [engine] in
      try engine.statistics(types: engine.typeNames, isTool: false)
    }
  }

  /// The same, on the calling thread, for tools: they do not name themselves as readers of the log.
  /// - Parameter types: The names of types by their tables.
  package func inspectStatistics(types: [String: String]) throws -> FileStatistics {
    try engine.statistics(types: types, isTool: true)
  }
}

extension SQLiteEngine {
  fileprivate var typeNames: [String: String] {
    Dictionary(usedSchemas.map { ($0.table, $0.layout.name) }) { first, _ in first }
  }

  fileprivate func statistics(types: [String: String], isTool: Bool) throws -> FileStatistics {
    // Before this call reads a state itself.
    let logReaders = logReaders(isTool: isTool)
    return try readingWhole {
      do {
        return try onReader(for: .query) { connection in
          guard let uses = try SpaceUses.read(connection, types: types) else {
            throw StorageError(
              .other, message: "this SQLite has no dbstat", path: path,
              advice: "use one that is built with SQLITE_ENABLE_DBSTAT_VTAB")
          }
          let pageSize = try connection.pageSize()
          return FileStatistics(
            uses: uses, bytes: try connection.pageCount() * pageSize,
            freeBytes: try connection.freelistCount() * pageSize, logBytes: logBytes,
            logReaders: logReaders)
        }
      } catch let error as SQLiteError where error.isNoSuchFile && !configuration.isReadOnly {
        return FileStatistics(uses: [], bytes: 0, freeBytes: 0, logBytes: 0, logReaders: [])
      }
    }
  }

  private var logBytes: Int {
    var status = stat()
    let log = FileReplacement.path(of: "-wal", beside: path)
    return stat(log, &status) == 0 ? Int(status.st_size) : 0
  }

  private func logReaders(isTool: Bool) -> [LogReader] {
    let own = getpid()
    let age = session.snapshots.oldest.map { start in
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      return Double(seconds) + Double(attoseconds) / 1e18
    }
    let readers = LogReaders.processes(ofFile: path).filter { !isTool || $0 != own }
    return readers.map { process in
      LogReader(
        // 0 stands for a process that this one cannot see, in another container for example.
        process: process > 0 ? process : nil,
        program: process > 0 ? LogReaders.program(of: process) : nil, isOwn: process == own,
        snapshotAge: process == own ? age : nil)
    }.sorted { ($0.isOwn ? 0 : 1, $0.process ?? 0) < ($1.isOwn ? 0 : 1, $1.process ?? 0) }
  }
}
