// The file that a pool's readers have open, when another one may have been put in its place.

import Platform

extension ReaderPool {
  /// How often a reader that is returned looks at the path while there is no writer, in
  /// nanoseconds.
  private static let lookInterval: UInt64 = 100_000_000

  /// Uses only readers of the files that a writer has open. If others are at the path, opening a
  /// reader throws ``ResultCode/fileReplaced``.
  /// - Parameter writer: The writer, in WAL mode; nil if there is none any more.
  package func follow(_ writer: Connection?) {
    let files = writer?.openFiles
    change { $0.required = files }
    if let files { use(files.main) }
  }

  /// Opens a connection to the file that the readers use. It does not belong to the pool.
  package func openSeparately(busyTimeoutMilliseconds: Int) throws(SQLiteError) -> Connection {
    let connection = try openConnection(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    if let file = connection.openFile { use(file) }
    return connection
  }

  /// The files that a new reader must find at the path; nil for whatever there is.
  var requiredFiles: OpenFiles? { state.withLock { $0.required } }

  /// Notes which file a new reader has open. Readers of another one are not used again.
  func adoptFile(of connection: Connection, for reader: PooledReader) {
    reader.file = connection.openFile
    if let file = reader.file { use(file) }
  }

  /// Whether another file is at the path, and no writer keeps the readers at this one. It is looked
  /// at from time to time.
  func isOutdated(_ reader: PooledReader, now: UInt64) -> Bool {
    if now < nextLook.load(ordering: .relaxed) { return false }
    nextLook.store(now &+ Self.lookInterval, ordering: .relaxed)
    guard let file = reader.file, requiredFiles == nil, reader.connection.isReplaced else {
      return false
    }
    // The others are closed when a reader of the new file is opened.
    discard { $0.removeIdle(of: file) }
    return true
  }

  /// Readers have this file open from now on.
  private func use(_ file: FileIdentity) {
    discard { state in
      if state.file == file { return [] }
      let earlier = state.file
      state.file = file
      return earlier.map { state.removeIdle(of: $0) } ?? []
    }
  }

  private func discard(_ remove: (inout State) -> [PooledReader]) {
    let readers = change(remove)
    for reader in readers { reader.close() }
    if !readers.isEmpty { readLock?.rest() }
  }
}

extension ReaderPool.State {
  /// Removes and returns the idle readers that have a file open.
  mutating func removeIdle(of file: FileIdentity) -> [PooledReader] {
    let removed = idle.filter { $0.file == file }
    if removed.isEmpty { return [] }
    idle.removeAll { $0.file == file }
    all.removeAll { reader in removed.contains { $0 === reader } }
    return removed
  }
}
