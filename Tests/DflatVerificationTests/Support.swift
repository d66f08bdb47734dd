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

/// Makes a directory.
func makeDirectory(_ path: String) throws {
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
}
