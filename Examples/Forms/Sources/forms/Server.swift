// The server of the demo, in a process of its own, and the requests to it.

import Foundation
import Silo

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Refused: Error, CustomStringConvertible {
  let status: Int
  var description: String { "the server answered \(status)" }
}

/// A running server.
final class Server {
  let port: Int
  private let process = Process()

  /// Starts a server.
  /// - Parameter record: The file in which it records what it gets.
  init(record: URL) throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "server.py")
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", script.path(percentEncoded: false), record.path(percentEncoded: false),
    ]
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw Refused(status: 0)
    }
    self.port = port
  }

  /// Ends the server, and returns when it has ended.
  func stop() async {
    guard process.isRunning else { return }
    await process.ended(after: { _ = kill(process.processIdentifier, SIGKILL) })
  }
}

extension Process {
  /// Calls `body`, and returns when the process has ended.
  func ended(after body: () throws -> Void) async rethrows {
    let (ends, continuation) = AsyncStream<Void>.makeStream()
    terminationHandler = { _ in continuation.finish() }
    try body()
    for await _ in ends {}
  }
}

/// A line of the server's record.
struct RecordLine: Decodable, CustomStringConvertible {
  enum Event: String, Decodable { case started, users, applied, repeated, refused }

  let time: String
  let event: Event
  /// The users that were asked for, or the answer's text.
  let what: String
  /// The id of the answer, and the idempotency key of the upload.
  let id: String?
  let key: String?

  var description: String {
    let text =
      switch event {
      case .started: "the server starts"
      case .users: "asked for the users \(what)"
      case .applied: "\(what): applied"
      case .repeated: "\(what): came again with its key, not applied again"
      case .refused: "\(what): refused with 503"
      }
    let column = text.padding(toLength: 54, withPad: " ", startingAt: 0)
    return "\(time)  " + (key.map { "\(column)  key \($0.prefix(8))" } ?? text)
  }
}

/// Requests to a server.
struct API: Sendable {
  let port: Int

  func users(_ ids: [Int]) async throws -> [User] {
    let list = ids.map(String.init).joined(separator: ",")
    return try JSONDecoder().decode([User].self, from: try await get("/users?ids=\(list)"))
  }

  func record() async throws -> [RecordLine] {
    try JSONDecoder().decode([RecordLine].self, from: try await get("/record"))
  }

  func send(_ answer: Answer, key: UUID) async throws {
    var request = URLRequest(url: try url("/answers"))
    request.httpMethod = "POST"
    request.setValue(key.uuidString, forHTTPHeaderField: "Idempotency-Key")
    request.httpBody = try JSONSerialization.data(
      withJSONObject: ["id": answer.id.uuidString, "texts": answer.texts])
    _ = try await perform(request)
  }

  private func get(_ path: String) async throws -> Data {
    try await perform(URLRequest(url: try url(path)))
  }

  private func perform(_ request: URLRequest) async throws -> Data {
    let (data, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    if status != 200 { throw Refused(status: status) }
    return data
  }

  private func url(_ path: String) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw Refused(status: 0) }
    return url
  }
}
