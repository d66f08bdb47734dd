// The server of the demo and its standby; see server.sh.

import Foundation
import PackageStore

/// A running server with a standby. Both end with this process.
final class Server: @unchecked Sendable {
  /// The connection string of its database.
  let url: String
  private let directory: String
  private let process = Process()
  private let input = Pipe()
  private let lock = NSLock()
  private var failures = 0

  init() throws {
    // A socket's path must be short.
    directory = "/tmp/dflat-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    // Whichever of the two can write.
    url =
      "postgresql:///postgres?host=\(directory)/a,\(directory)/b&user=dflat"
      + "&target_session_attrs=read-write"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "server.sh")
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [script.path(percentEncoded: false), directory]
    process.standardInput = input
    process.standardOutput = output
    // The processes that sell must not keep it open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard line.hasPrefix("ready") else { throw Failure("the server did not start") }
  }

  /// Whether it was killed.
  var hasFailed: Bool { lock.withLock { failures > 0 } }

  /// Kills the server. The standby takes over.
  func fail() throws {
    lock.withLock { failures += 1 }
    try input.fileHandleForWriting.write(contentsOf: Data("fail\n".utf8))
  }
}

/// A number that closures count up.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0

  var count: Int { lock.withLock { number } }

  func increment() { lock.withLock { number += 1 } }
}
