// Files that the tests of this target create, and threads that they start.

import Foundation
import SQLiteAccess

/// Calls `body` with a new directory, and removes it afterwards.
func withTemporaryDirectory<R>(_ body: (_ path: String) throws -> R) throws -> R {
  let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("SQLiteAccessTests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer {
    do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(error)") }
  }
  return try body(url.path)
}

/// Calls `body` with a path at which it can create a database.
func withTemporaryFile<R>(_ body: (_ path: String) throws -> R) throws -> R {
  try withTemporaryDirectory { try body($0 + "/test.db") }
}

/// A database file in WAL mode with the numbers from 1 to `rows` and texts of 200 bytes.
func makeFilledFile(_ path: String, rows: Int = 100) throws -> Connection {
  let connection = try Connection(path: path)
  try connection.prepareDatabaseFile()
  try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
  try connection.transaction {
    let insert = try connection.statement("INSERT INTO t VALUES (?, ?)")
    for id in 0..<rows {
      try insert.bind(1, Int64(id + 1))
      try insert.bind(2, String(repeating: "x", count: 200))
      try insert.run()
    }
  }
  return connection
}

/// Starts a thread, which unlike a task may block.
func startThread(_ body: @escaping @Sendable () -> Void) {
  Thread.detachNewThread(body)
}

/// Values collected by several threads.
///
/// Unchecked, because the compiler cannot know that the lock protects the array. It is Foundation's
/// lock, and not `Mutex`, because ThreadSanitizer understands it.
final class Collected<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [Value] = []

  var all: [Value] { lock.withLock { values } }

  func append(_ value: Value) { lock.withLock { values.append(value) } }
}
