// The verbs that put whole files into place: restore, vacuum.

import DflatTools
import Foundation

extension ShellCommand {
  func restore(_ arguments: Arguments) throws -> Int32 {
    let (backup, path) = (arguments.operands[0], arguments.operands[1])
    let replaces = arguments.has("--replace")
    if replaces, FileManager.default.fileExists(atPath: path) {
      errors("\(path) will be replaced by a copy of \(backup), and kept beside it\n")
      if !(try mayChange(path, arguments)) { return Status.nothing }
    }
    let report = try withActivity("restore") { activity in
      try DataFile.restore(backup, to: path, replacing: replaces) {
        activity.show($1 - $0, of: $1)
      }
    }
    if arguments.has("--json") {
      try printJSON(report)
      return Status.good
    }
    try print("\(report.path): \(report.bytes) bytes, checked")
    if let old = report.replaced { try print("the file that was there is \(old)") }
    return Status.good
  }

  func vacuum(_ arguments: Arguments) throws -> Int32 {
    let path = arguments.operands[0]
    let isIncremental = arguments.has("--incremental")
    let future = future(arguments)
    errors(
      isIncremental
        ? "the free pages of \(path) \(future) given back\n"
        : "\(path) \(future) replaced by a new file with the same content\n")
    if !(try mayChange(path, arguments)) {
      guard arguments.has("--dry-run") else { return Status.nothing }
      if arguments.has("--json") {
        try printJSON([
          "path": JSONText.text(path), "bytesBefore": .number(try DataFile.bytes(ofFileAt: path)),
        ])
      }
      return Status.good
    }
    let report = try withActivity("vacuum") { activity in
      if !isIncremental { return try DataFile.vacuum(path) }
      return try DataFile.vacuumInSteps(path) {
        activity.show($1 - $0, of: $1)
        return true
      }
    }
    if arguments.has("--json") {
      try printJSON(report)
      return Status.good
    }
    try print("\(report.path): \(report.bytesBefore) bytes before, \(report.bytesAfter) now")
    return Status.good
  }
}
