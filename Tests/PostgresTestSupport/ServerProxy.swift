// ServerProxy: a socket that stands between programs and the server, and can change what they tell
// each other, or lose it.
//
//  - It passes the messages of PostgreSQL's protocol one by one. Each connection has a filter of
//    its own, which sees those of both directions on two threads.
//  - A filter that does not pass a message on ends the connection.

import Foundation
import Platform

/// A message of PostgreSQL's protocol.
public struct ProxyMessage: Sendable {
  /// Its type; 0 for the first one of a client, which has none.
  public var type: UInt8
  /// What follows its length.
  public var body: [UInt8]

  /// The statements of a simple query; nil for other messages.
  public var statements: String? {
    get { type == UInt8(ascii: "Q") ? String(decoding: body.dropLast(), as: UTF8.self) : nil }
    set { if let newValue { body = Array(newValue.utf8) + [0] } }
  }

  /// The bytes on the wire.
  fileprivate var bytes: [UInt8] {
    let length = UInt32(body.count + 4)
    let head = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    return (type == 0 ? [] : [type]) + head + body
  }
}

/// What a proxy does with the messages of one connection.
public protocol ProxyFilter: Sendable {
  /// A message of the client.
  /// - Returns: What the server gets; nil to end the connection.
  func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage?
  /// A message of the server.
  /// - Returns: What the client gets; nil to end the connection.
  func fromServer(_ message: ProxyMessage) -> ProxyMessage?
}

extension ProxyFilter {
  /// Passes the message on.
  public func fromServer(_ message: ProxyMessage) -> ProxyMessage? { message }
}

/// A connection through a proxy, closed when both directions have ended.
public final class ProxyConnection: Sendable {
  fileprivate let client: Int32
  fileprivate let server: Int32
  private let ended = Atomic<Int>(0)

  fileprivate init(client: Int32, server: Int32) {
    self.client = client
    self.server = server
  }

  /// Ends the client's half: the client learns that the connection is lost, and the server does
  /// not.
  public func loseClient() { shutdown(client, Int32(SHUT_RDWR)) }

  fileprivate func end() {
    shutdown(client, Int32(SHUT_RDWR))
    shutdown(server, Int32(SHUT_RDWR))
    guard ended.add(1, ordering: .acquiringAndReleasing).newValue == 2 else { return }
    _ = Platform.close(client)
    _ = Platform.close(server)
  }
}

/// A proxy before the tests' server.
public final class ServerProxy: Sendable {
  /// The connection string of the proxy.
  public let url: String
  private let directory: String
  private let server: ServerAddress
  private let listener: Int32
  private let makeFilter: @Sendable () -> any ProxyFilter

  /// Starts a proxy.
  /// - Parameters:
  ///   - url: The connection string of a server; nil for the tests' one.
  ///   - makeFilter: Makes the filter of a connection.
  public init(
    to url: String? = nil, _ makeFilter: @escaping @Sendable () -> any ProxyFilter
  ) throws {
    let url = try url ?? TestCluster.shared().url
    self.makeFilter = makeFilter
    server = try ServerAddress(url)
    directory = "/tmp/dflat-proxy-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let local = url.setting("host", to: directory).setting("port", to: "5432")
    self.url = url.contains("hostaddr") ? local.setting("hostaddr", to: "") : local
    listener = try Self.socket(bindingTo: "\(directory)/.s.PGSQL.5432")
    Thread { [self] in
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 { return }
        serve(client)
      }
    }.start()
  }

  /// Refuses new connections.
  public func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    _ = Platform.close(listener)
    try? FileManager.default.removeItem(atPath: directory)
  }

  private func serve(_ client: Int32) {
    guard let server = try? server.connect() else {
      _ = Platform.close(client)
      return
    }
    let connection = ProxyConnection(client: client, server: server)
    let filter = makeFilter()
    Thread {
      var isFirst = true
      Self.pass(from: client, to: server) { reader in
        defer { isFirst = false }
        return reader.next(isTyped: !isFirst).flatMap { filter.fromClient($0, connection) }
      }
      connection.end()
    }.start()
    Thread {
      Self.pass(from: server, to: client) { reader in
        reader.next(isTyped: true).flatMap { filter.fromServer($0) }
      }
      connection.end()
    }.start()
  }

  /// Passes messages on until an end is closed, or there is no next message.
  private static func pass(
    from source: Int32, to target: Int32, _ next: (inout MessageReader) -> ProxyMessage?
  ) {
    var reader = MessageReader(socket: source)
    while let message = next(&reader) {
      let bytes = message.bytes
      var start = 0
      while start < bytes.count {
        let written = bytes.withUnsafeBytes { bytes in
          send(
            target, bytes.baseAddress.map { $0 + start }, bytes.count - start, Int32(MSG_NOSIGNAL))
        }
        if written <= 0 { return }
        start += written
      }
    }
  }

  // MARK: Sockets

  private static func socket(
    at path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    let socket = Platform.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      _ = Platform.close(socket)
      throw ClusterError("there is no socket at \(path)")
    }
    return socket
  }

  static func socket(connectedTo path: String) throws -> Int32 {
    try socket(at: path) { connect($0, $1, $2) }
  }

  private static func socket(bindingTo path: String) throws -> Int32 {
    let socket = try socket(at: path) { bind($0, $1, $2) }
    listen(socket, 100)
    return socket
  }
}

/// Reads messages from a socket.
private struct MessageReader {
  let socket: Int32
  private var buffer: [UInt8] = []
  private var start = 0

  init(socket: Int32) {
    self.socket = socket
  }

  /// The next message; nil at the end.
  mutating func next(isTyped: Bool) -> ProxyMessage? {
    let head = isTyped ? 5 : 4
    guard fill(head) else { return nil }
    let type = isTyped ? buffer[start] : 0
    let length = buffer[(start + head - 4)..<(start + head)].reduce(0) { $0 << 8 | Int($1) }
    guard length >= 4, fill(head + length - 4) else { return nil }
    let body = Array(buffer[(start + head)..<(start + head + length - 4)])
    start += head + length - 4
    return ProxyMessage(type: type, body: body)
  }

  /// Makes sure that so many bytes are in the buffer.
  private mutating func fill(_ count: Int) -> Bool {
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: true)
      start = 0
    }
    while buffer.count - start < count {
      var block = [UInt8](repeating: 0, count: 1 << 16)
      let received = block.withUnsafeMutableBytes { read(socket, $0.baseAddress, $0.count) }
      if received <= 0 { return false }
      buffer += block[..<received]
    }
    return true
  }
}
