// The second part: a program whose objects are in a file goes on with a server. The functions that
// store, change and ask are those of Examples/Posts; the line that opens the workspace is another.

import Foundation
import PackageStore
import PostgresDflat
import SQLiteDflat

func move(to url: String, from path: String) async throws {
  let found = try readPackages("/var/lib/dpkg/status")
  for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  let file = try await SQLiteWorkspace.open(filePath: path)
  _ = try await timed("stored \(found.count) packages in a file") {
    try await store(found, in: file)
  }
  var settings = file.dictionary
  settings["title"] = "The packages of a machine"

  let server = try await PostgresWorkspace.open(url, configuration: serverSettings)
  // What is written while the copy runs arrives, too.
  async let copied = timed("copied them to the server, with what is written meanwhile") {
    try await file.copy(Package.self, Requirement.self, to: server)
  } remark: {
    let objects = $0.tables.values.reduce(0) { $0 + $1.count }
    return "\(objects) objects in \($0.passes) passes, writers waited for \($0.pause)"
  }
  let held = try await holdLargest(in: file)
  let report = try await copied
  let arrived = server.fetch(for: Package.self).where(Package.selection == .hold).count
  guard arrived >= held else { throw Failure("\(held) packages were put on hold, \(arrived) are") }
  for (table, contents) in report.tables.sorted(by: { $0.key < $1.key }) {
    print("                \(table): \(contents)")
  }
  await file.shutdown()
  print("                \(server.dictionary["title", String.self] ?? "no title")\n")
  await ask(server, about: found)
  await server.shutdown()
}

/// Removes what an earlier demo has left in a database that was there before.
func removeEarlierObjects(_ url: String) async throws {
  let server = try await PostgresWorkspace.open(url, configuration: serverSettings)
  try await server.write(Post.self, Package.self, Requirement.self) { txn in
    try txn.delete(txn.query(Post.self))
    try txn.delete(txn.query(Package.self))
    try txn.delete(txn.query(Requirement.self))
  }
  for namespace in ["", "dflat.copy"] {
    var values = server.dictionary(namespace: namespace)
    values.removeAll()
    values.synchronize()
  }
  await server.shutdown()
}
