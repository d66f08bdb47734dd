// The second part of the demo: dpkg's database becomes objects, answers questions, is changed, closed and opened again.

import PackageStore
import SQLiteDflat

func packages(from file: String, into path: String) async throws {
  let found = try await timed("read \(file)") {
    try readPackages(file)
  } remark: {
    "\($0.count) packages"
  }
  guard !found.isEmpty else { throw Failure("\(file) names no package") }

  let dflat = openWorkspace(path)
  _ = try await timed("stored them in one transaction") {
    try await store(found, in: dflat)
  } remark: {
    "with \($0) entries of who requires whom"
  }
  await ask(dflat, about: found)
  let held = try await timed("put the largest on hold") {
    try await holdLargest(in: dflat)
  } remark: {
    "\($0) packages changed"
  }
  await timed("closed the database") { await dflat.shutdown(flags: .truncate) }

  let reopened = openWorkspace(path)
  let again = await timed("opened it again and read who is on hold") {
    reopened.fetch(for: Package.self).where(Package.selection == .hold)
  } remark: {
    $0.map(\.name).joined(separator: " ")
  }
  await reopened.shutdown(flags: .truncate)
  guard again.count >= held else { throw Failure("changes were lost") }
  print("\nThe file is an ordinary database:\n  sqlite3 \(path) .schema")
}

private func openWorkspace(_ path: String) -> SQLiteWorkspace {
  let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
  dflat.errorHandler = { print("error: \($0)") }
  return dflat
}
