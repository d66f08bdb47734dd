// Errors of the system, such as a full disk, as errors that name the file.

import DflatTools
import Foundation
import Platform

/// Reads or writes a file.
/// - Parameters:
///   - file: The file as messages name it.
///   - failure: What cannot be done: "read" or "written".
/// - Throws: `ToolError` for an error of the system.
func withSystemErrors<R>(_ file: String, _ failure: String, _ body: () throws -> R) throws -> R {
  do { return try body() } catch let error as CocoaError {
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    let reason =
      cause.flatMap {
        $0.domain == NSPOSIXErrorDomain ? String(cString: strerror(Int32($0.code))) : nil
      }
      ?? error.localizedDescription
    throw ToolError(.storage, "\(file) cannot be \(failure): \(reason)")
  }
}
