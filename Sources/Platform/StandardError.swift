// Standard error: where commands write their messages.

import Foundation

package enum StandardError {
  /// Opens what this process was started without of the standard input, output and error. A file
  /// that is opened later would have the number of one, and messages would be written into it.
  package static func openMissing() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest number that is free is this one. Its use fails, as without the file.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes a message. A failure changes nothing: the status of the process is that of its work.
  package static func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
