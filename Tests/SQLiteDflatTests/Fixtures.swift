// Workspaces on copies of the files in Fixtures, and rows as FlatBuffers' own compiler reads them.

import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

/// Runs `body` with a workspace on a copy of a file in Fixtures. Errors that the workspace reports
/// are issues.
func withFixture(
  _ name: String, configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in },
  _ body: (TemporaryFile) throws -> Void
) throws {
  let fixture = try Fixture(name, configure)
  defer { fixture.remove() }
  try body(fixture.workspace)
  fixture.workspace.dflat.shutdown()
  fixture.recordErrors()
}

/// The same with a body that awaits.
func withFixture(_ name: String, _ body: (TemporaryFile) async throws -> Void) async throws {
  let fixture = try Fixture(name) { _ in }
  defer { fixture.remove() }
  try await body(fixture.workspace)
  await fixture.workspace.dflat.shutdown()
  fixture.recordErrors()
}

/// A workspace on a copy of a file.
private struct Fixture {
  let workspace: TemporaryFile
  private let name: String
  private let directory: String

  init(_ name: String, _ configure: (inout SQLiteWorkspace.Configuration) -> Void) throws {
    self.name = name
    directory = try makeTemporaryDirectory()
    let path = "\(directory)/\(name).db"
    let source = try #require(
      Bundle.module.url(forResource: name, withExtension: "db", subdirectory: "Fixtures"))
    try FileManager.default.copyItem(atPath: source.path, toPath: path)
    workspace = TemporaryFile(path: path, configure)
  }

  func recordErrors() {
    for error in workspace.takeErrors() { Issue.record("\(name): \(error)") }
  }

  func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// The posts in these rows, as flatc reads them.
func flatcReads(_ rows: [Int], of workspace: TemporaryFile) throws -> [[String: Any]] {
  let schema = try #require(
    Bundle.module.url(
      forResource: "blog", withExtension: "fbs", subdirectory: "Fixtures/sources"))
  return try flatcReads(rows, in: "blog__post_v1_0", schema, of: workspace)
}

/// The objects in these rows of a table, as flatc reads them.
func flatcReads(
  _ rows: [Int], in table: String, _ schema: URL, of workspace: TemporaryFile
) throws -> [[String: Any]] {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  _ = try workspace.sqlite3(
    "SELECT writefile('\(directory)/' || rowid || '.bin', p) FROM \(table)")
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments =
    ["flatc", "--json", "--raw-binary", "--strict-json", "-o", directory, schema.path, "--"]
    + rows.map { "\(directory)/\($0).bin" }
  try process.run()
  process.waitUntilExit()
  #expect(process.terminationStatus == 0)
  return try rows.map { row in
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(row).json"))
    return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
  }
}
