// ErrorHook: receives errors that no call can throw.
//
// If the program installs no handler, debug builds write these errors to the standard error stream.

import Platform

/// The program's handler of errors that no call can throw.
final class ErrorHook: Sendable {
  private let installed = Mutex<(@Sendable (any Error) -> Void)?>(nil)

  var handler: (@Sendable (any Error) -> Void)? {
    get { installed.withLock { $0 } }
    set { installed.withLock { $0 = newValue } }
  }

  func report(_ error: any Error) {
    if let handler { return handler(error) }
    #if DEBUG
      var line = "Dflat: \(error)\n"
      line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    #endif
  }
}
