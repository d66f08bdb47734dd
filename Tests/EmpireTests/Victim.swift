// This test program once more, as a child that may be killed, or measured without the other tests.
//
// The child is started with DFLAT_EMPIRE_VICTIM set to a task and a directory, and runs one test only.

import Foundation

enum Victim {
  /// What the child is to do, and where.
  static let task = ProcessInfo.processInfo.environment["DFLAT_EMPIRE_VICTIM"].map {
    $0.split(separator: ":", maxSplits: 1).map(String.init)
  }

  /// Starts this program once more, to run `KillTests/victim`.
  static func start(_ task: String, _ directory: URL, _ output: Pipe = Pipe()) throws -> Process {
    var arguments = Array(CommandLine.arguments.dropFirst())
    while let index = arguments.firstIndex(of: "--filter"), index + 1 < arguments.count {
      arguments.removeSubrange(index...(index + 1))
    }
    let child = Process()
    child.executableURL = URL(filePath: CommandLine.arguments[0])
    child.arguments = arguments + ["--filter", "EmpireTests.KillTests/victim"]
    var environment = ProcessInfo.processInfo.environment
    environment["DFLAT_EMPIRE_VICTIM"] = "\(task):\(directory.path(percentEncoded: false))"
    child.environment = environment
    child.standardOutput = output
    try child.run()
    return child
  }
}
