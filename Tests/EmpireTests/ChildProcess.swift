// Runs this test program again as a child process, to be killed, or to be measured without other
// tests.
//
// The environment variable DFLAT_EMPIRE_CHILD gives the child a task and a directory. It runs only
// one test.

import Foundation

enum ChildProcess {
  /// The child's task and directory; nil in the parent.
  static let task = ProcessInfo.processInfo.environment["DFLAT_EMPIRE_CHILD"].map {
    $0.split(separator: ":", maxSplits: 1).map(String.init)
  }

  /// Starts this program again, to run `KillTests/child`.
  /// - Parameter launcher: A command that is given the program as its last arguments.
  static func start(
    _ task: String, _ directory: URL, _ output: Pipe = Pipe(), through launcher: [String] = []
  ) throws -> Process {
    var arguments = Array(CommandLine.arguments.dropFirst())
    while let index = arguments.firstIndex(of: "--filter"), index + 1 < arguments.count {
      arguments.removeSubrange(index...(index + 1))
    }
    let child = Process()
    child.executableURL = URL(filePath: "/usr/bin/env")
    child.arguments =
      launcher + [CommandLine.arguments[0]] + arguments
      + ["--filter", "EmpireTests.KillTests/child"]
    var environment = ProcessInfo.processInfo.environment
    environment["DFLAT_EMPIRE_CHILD"] = "\(task):\(directory.path(percentEncoded: false))"
    child.environment = environment
    child.standardOutput = output
    try child.run()
    return child
  }
}
