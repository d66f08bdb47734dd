// Processes that the program starts from its own executable.

import Foundation

enum ChildProcess {
  /// A process of this program, not yet started.
  static func make(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
    guard let program = Bundle.main.executableURL else {
      throw Disagreement(description: "the program does not know where it is")
    }
    let process = Process()
    process.executableURL = program.resolvingSymlinksInPath()
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    return (process, output)
  }

  /// Runs a child to its end.
  /// - Parameter hears: Called with the first bytes that the child prints.
  /// - Returns: The numbers that it printed.
  static func numbers(_ arguments: [String], hears: () -> Void = {}) throws -> [Int] {
    let (process, output) = try make(arguments)
    try process.run()
    var said = output.fileHandleForReading.availableData
    hears()
    said += output.fileHandleForReading.readDataToEndOfFile()
    let text = String(decoding: said, as: UTF8.self)
    process.waitUntilExit()
    let numbers = text.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard process.terminationStatus == 0, !numbers.isEmpty, !numbers.contains(nil) else {
      throw Disagreement(
        description: "\(arguments.joined(separator: " ")): the process said '\(text)'")
    }
    return numbers.compactMap { $0 }
  }
}
