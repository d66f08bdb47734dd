// The service that the tests ask: a process of its own, which ends with the test.

import DflatTestSupport
import Foundation
import Platform

/// A GraphQL service on this machine.
final class Server: Sendable {
  /// Its address, without a path.
  let url: URL
  private let process = Process()
  /// The other end of the service's standard input.
  private let input = Pipe()
  private let lines: AsyncStream<String>

  init() async throws {
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-u", Bundle.module.bundlePath + "/Server/server.py"]
    let checkout = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let modules = checkout.appending(path: ".build/python").path
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PYTHONPATH": modules, "PYTHONDONTWRITEBYTECODE": "1"]
    ) { $0 == $1 ? $0 : "\($1):\($0)" }
    process.standardInput = input
    process.standardOutput = output
    lines = Self.lines(of: output)
    try process.run()
    for await line in lines {
      guard let url = URL(string: "http://127.0.0.1:\(line)") else { break }
      self.url = url
      return
    }
    throw NoServer()
  }

  deinit { try? input.fileHandleForWriting.close() }

  struct NoServer: Error, CustomStringConvertible {
    let description = "the server has not started; it needs python3-graphql-core"
  }

  private static func lines(of output: Pipe) -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    let rest = Mutex<[UInt8]>([])
    output.fileHandleForReading.readabilityHandler = { handle in
      let bytes = handle.availableData
      if bytes.isEmpty {
        handle.readabilityHandler = nil
        return continuation.finish()
      }
      rest.withLock { rest in
        rest += bytes
        while let end = rest.firstIndex(of: 0x0A) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeSubrange(...end)
        }
      }
    }
    return stream
  }

  func url(_ path: String) -> URL { url.appending(path: path) }

  /// The next event that the service reports.
  func event() async -> String? {
    for await line in lines { return line }
    return nil
  }
}
