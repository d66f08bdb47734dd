// A browser's part: requests over sockets, byte by byte if that is wanted.

import DflatTestSupport
import DflatTools
import Foundation
import Platform
import Testing

@testable import DflatInspector

/// What a server answers.
struct Reply {
  let status: Int
  let headers: [String: String]
  let body: Data

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The answer as JSON.
  func json(_ location: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    try #require(
      try JSONSerialization.jsonObject(with: body) as? [String: Any], sourceLocation: location)
  }
}

/// A connection to a port of this machine.
final class Socket {
  private let descriptor: Int32

  init(port: UInt16) throws {
    #if os(Linux)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    try #require(result == 0, "no connection to port \(port): \(String(cString: strerror(errno)))")
  }

  deinit { close(descriptor) }

  /// Sends bytes. The server may have ended the connection before.
  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Platform.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      sent += count
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Says that nothing more is sent.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Waits for an answer, or for the end of the connection.
  /// - Parameter milliseconds: How long to wait at most.
  func hasEnded(within milliseconds: Int32) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waited, 1, milliseconds) > 0
  }

  /// All that the server sends until it ends the connection.
  func readAll() -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return data }
      data.append(contentsOf: buffer[..<count])
    }
  }
}

/// The session of a browser with an inspector.
struct Client {
  let port: UInt16
  var path = ""
  var cookie = ""

  /// Opens the address of an inspector.
  init(_ inspector: Inspector) throws {
    port = inspector.port
    let opened = try get(String(inspector.address.drop { $0 != "?" }), path: "/")
    try #require(opened.status == 303, "\(opened.text)")
    path = try #require(opened.headers["location"])
    let set = try #require(opened.headers["set-cookie"])
    cookie = String(set.prefix { $0 != ";" })
  }

  /// A client without a session.
  init(port: UInt16) { self.port = port }

  /// Sends a request as it is, and reads the answer.
  func exchange(_ request: String) throws -> Reply { try exchange(Array(request.utf8)) }

  /// - Parameter endsSending: Whether nothing can follow the request. The server takes that for a
  ///   client that is gone, if the answer takes long.
  func exchange(_ request: [UInt8], endsSending: Bool = true) throws -> Reply {
    let socket = try Socket(port: port)
    socket.send(request)
    if endsSending { socket.endSending() }
    return Self.reply(socket.readAll())
  }

  static func reply(_ data: Data) -> Reply {
    let end = data.range(of: Data("\r\n\r\n".utf8))
    let head = String(decoding: data[..<(end?.lowerBound ?? data.endIndex)], as: UTF8.self)
    let lines = head.components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
    // A server may say first that it reads on; the answer follows.
    if status == 100, let end { return reply(Data(data[end.upperBound...])) }
    return Reply(
      status: status ?? 0, headers: headers, body: Data(data[(end?.upperBound ?? data.endIndex)...])
    )
  }

  /// A request with a browser's headers, of which some may be changed or, with nil, left out.
  func request(
    _ method: String, _ uri: String, _ changes: [String: String?] = [:], body: String = ""
  ) -> String {
    var headers: [String: String?] = [
      "Host": "127.0.0.1:\(port)", "Connection": "close", "Sec-Fetch-Site": "same-origin",
    ]
    if !cookie.isEmpty { headers["Cookie"] = cookie }
    if method == "POST" {
      headers["Origin"] = "http://127.0.0.1:\(port)"
      headers["Content-Type"] = "application/json"
      headers["Dflat-Inspector"] = "1"
      headers["Content-Length"] = "\(body.utf8.count)"
    }
    headers.merge(changes) { $1 }
    let lines = headers.sorted { $0.key < $1.key }.compactMap { name, value in
      value.map { "\(name): \($0)\r\n" }
    }
    return "\(method) \(uri) HTTP/1.1\r\n\(lines.joined())\r\n\(body)"
  }

  func get(_ uri: String, path: String? = nil) throws -> Reply {
    try exchange(Array(request("GET", (path ?? self.path) + uri).utf8), endsSending: false)
  }

  /// Asks a question.
  func ask(_ question: [String: Any], _ changes: [String: String?] = [:]) throws -> Reply {
    let body = String(
      decoding: try JSONSerialization.data(withJSONObject: question), as: UTF8.self)
    return try exchange(
      Array(request("POST", path + "ask", changes, body: body).utf8), endsSending: !changes.isEmpty)
  }

  /// The answer to a question that has one.
  func answer(
    _ question: [String: Any], _ location: SourceLocation = #_sourceLocation
  ) throws -> [String: Any] {
    let reply = try ask(question)
    #expect(reply.status == 200, "\(reply.text.prefix(500))", sourceLocation: location)
    return try reply.json(location)
  }
}
