// Shared by the tests: the command that runs workers.

import Foundation

/// The command that runs workers, built beside the tests.
let verifyCommand: String = {
  let tests = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
  let here = tests.deletingLastPathComponent().appending(path: "dflat-verify-postgres").path()
  if FileManager.default.isExecutableFile(atPath: here) { return here }
  return URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/debug/dflat-verify-postgres").standardized.path()
}()
