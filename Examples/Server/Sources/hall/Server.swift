// The server of the demo; see server.sh.

import Foundation
import PackageStore

/// A running server. It ends with this process.
final class Server: @unchecked Sendable {
  /// The connection string of its database.
  let url: String
  private let directory: String
  private let process = Process()
  private let input = Pipe()
  private let lock = NSLock()
  private var crashes = 0

  init() throws {
    // A socket's path must be short.
    directory = "/tmp/dflat-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    url = "postgresql:///postgres?host=\(directory)&user=dflat"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "server.sh")
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [script.path(), directory]
    process.standardInput = input
    process.standardOutput = output
    // The processes that sell must not keep it open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard line.hasPrefix("ready") else { throw Failure("the server did not start") }
  }

  /// Whether it was made to crash.
  var hasCrashed: Bool { lock.withLock { crashes > 0 } }

  /// Makes the server crash. It starts again by itself.
  func crash() throws {
    lock.withLock { crashes += 1 }
    let file = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
    guard let first = file.split(separator: "\n").first, let id = pid_t(first) else {
      throw Failure("the server has no process id")
    }
    kill(id, SIGQUIT)
  }
}

/// A number that closures count up.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0

  var count: Int { lock.withLock { number } }

  func increment() { lock.withLock { number += 1 } }
}
