// The connections of workspaces that listen for other programs' commits.

import Dispatch
import DflatTestSupport
import Foundation
import PostgresTestSupport
import Testing

private func listenersLock(_ schema: String) -> String {
  "hashtextextended('dflat listener \"\(schema)\"', 0)"
}

/// The sessions that have the lock of listeners, or wait for it, as one column.
private func sessions(_ schema: String, _ mode: String, isGranted: Bool = true) -> String {
  """
  SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = '\(mode)' \
  AND granted = \(isGranted) \
  AND ((classid::bigint << 32) | objid::bigint) = \(listenersLock(schema))
  """
}

/// How many workspaces listen.
func listeners(_ schema: String, at url: String? = nil) throws -> Int {
  try PlainConnection(url).run(sessions(schema, "ShareLock")).count
}

/// Waits until a workspace listens.
func waitForListener(_ schema: String, at url: String? = nil) throws {
  #expect(try eventually { try listeners(schema, at: url) == 1 })
}

/// Ends the connection that listens, and lets no other one listen while `body` runs.
func withoutListener(_ schema: String, _ body: () async throws -> Void) async throws {
  let plain = try PlainConnection()
  let isBlocked = DispatchSemaphore(value: 0)
  let isOver = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    guard let blocking = try? PlainConnection() else { return }
    _ = try? blocking.run("SELECT pg_advisory_lock(\(listenersLock(schema)))")
    isBlocked.signal()
    isOver.wait()
    withExtendedLifetime(blocking) {}
  }
  // It waits in front of every listener to come.
  let waiting = sessions(schema, "ExclusiveLock", isGranted: false)
  #expect(try eventually { try plain.run(waiting).count == 1 })
  try plain.run(
    "SELECT pg_terminate_backend(pid) FROM (\(sessions(schema, "ShareLock"))) AS listeners")
  isBlocked.expect("the end of the listening connection")
  try await body()
  isOver.signal()
}
