// Shared by the tests: the command, and a directory.

import DflatTestSupport
import Foundation

/// The command that runs workers, built beside the tests.
let verifyCommand: String = {
  let tests = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
  let here = tests.deletingLastPathComponent().appending(path: "dflat-verify").path()
  if FileManager.default.isExecutableFile(atPath: here) { return here }
  return URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/debug/dflat-verify").standardized.path()
}()

/// A directory that is removed after the test.
func withDirectory<R>(_ body: (String) throws -> R) throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  return try body(directory)
}

/// Makes a directory.
func makeDirectory(_ path: String) throws {
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
}
