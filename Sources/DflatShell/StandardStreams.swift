// The standard streams of the process, any of which may be closed, full, or a pipe without reader.
//
//  - A message that cannot be printed is lost, and the work goes on: its status still tells.
//  - A result that cannot be printed is an error.
//  - No file gets the descriptor of a closed stream, since messages would be written into it.

import Foundation
import Platform

enum StandardStreams {
  /// To be called before any file is opened.
  static func prepare() {
    // A reader that ends early, as `head` does, is no reason to be killed: writing fails then.
    signal(SIGPIPE, SIG_IGN)
    StandardError.openMissing()
  }

  static func writeOutput(_ data: Data) throws {
    try withSystemErrors("standard output", "written") {
      try FileHandle.standardOutput.write(contentsOf: data)
    }
  }

  static func readInput() throws -> Data? {
    try withSystemErrors("standard input", "read") {
      try FileHandle.standardInput.read(upToCount: 1 << 20)
    }
  }
}
