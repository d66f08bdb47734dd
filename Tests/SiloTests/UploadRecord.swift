// What servers of tests have got, in a file that outlives the processes which upload.

import Foundation
import Platform
import Silo

/// An upload that can be told from all others.
struct RecordedUpload: Upload {
  let orderingKey: String
  let number: Int
}

/// What a server has got, as lines of a file.
struct UploadRecord: Sendable {
  /// What happened to an upload.
  struct Line {
    let event: String
    let process: pid_t
    let orderingKey: String
    let number: Int
    let key: String
  }

  let path: String

  /// Adds a line; it is there when this returns, whatever happens to the process.
  func append(_ event: String, _ upload: RecordedUpload, _ key: UUID) {
    let line = "\(event) \(getpid()) \(upload.orderingKey) \(upload.number) \(key)\n"
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = line.withCString { write(file, $0, strlen($0)) }
    close(file)
  }

  func has(_ event: String, _ number: Int) -> Bool {
    lines().contains { $0.event == event && $0.number == number }
  }

  /// The lines, in their order; none before the first one.
  func lines() -> [Line] {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { line in
      let parts = line.split(separator: " ").map(String.init)
      return Line(
        event: parts[0], process: pid_t(parts[1]) ?? 0, orderingKey: parts[2],
        number: Int(parts[3]) ?? -1, key: parts[4])
    }
  }
}
