// The second part of the demo: dpkg's database becomes objects, answers questions, is changed, closed and opened again.

import DpkgStatus
import Foundation
import SQLiteDflat

func packages(from file: String, into path: String) async throws {
  let found = try timed("read \(file)", { "\($0.count) packages" }) { try readPackages(file) }

  let dflat = openWorkspace(path)
  try await timed("stored them", { "\($0) requirements beside them" }) {
    try await store(found, in: dflat)
  }
  questions(to: dflat)
  try await hold(timed("largest 5, again", largest(5, in: dflat)), in: dflat)
  await timed("closed the database") { await dflat.shutdown(flags: .truncate) }

  let reopened = openWorkspace(path)
  let held = timed("opened it again, packages on hold", { names($0) }) {
    reopened.fetch(for: Package.self).where(Package.selection == .hold)
  }
  guard held.count == min(5, found.count) else { throw Failure("changes were lost") }
  await reopened.shutdown(flags: .truncate)
  print("\nThe file is an ordinary database: sqlite3 \(path) .schema")
}

private func openWorkspace(_ path: String) -> SQLiteWorkspace {
  let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
  dflat.errorHandler = { print("error: \($0)") }
  return dflat
}
