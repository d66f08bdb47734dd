// CommitProxy: a server's socket that loses a COMMIT, or the answer to it.
//
// It passes bytes between each client and the server. The statement that ends a transaction is told
// by its text. Everything runs on threads of its own, with blocking reads.

import Dispatch
import Foundation
import Platform
import PostgresTestSupport

final class CommitProxy: Sendable {
  /// The connection string of the proxy.
  let url: String
  private let directory: String
  private let server: String
  private let listener: Int32
  private let loss = Mutex<FaultTests.Loss?>(nil)
  private let lost = Atomic<Int>(0)
  /// Signalled when a write transaction begins.
  private let nextTransaction = DispatchSemaphore(value: 0)

  /// The number of commits that did not end as usual.
  var lostCommits: Int { lost.load(ordering: .relaxed) }

  init() throws {
    let cluster = try TestCluster.shared()
    guard let host = cluster.url.split(separator: "host=").last?.split(separator: "&").first else {
      throw CocoaError(.featureUnsupported)
    }
    server = "\(host)/.s.PGSQL.5432"
    directory = "/tmp/dflat-proxy-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    url = cluster.url.replacing(host, with: directory)
    listener = try Self.socket(bindingTo: "\(directory)/.s.PGSQL.5432")
    Thread { [self] in
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 { return }
        serve(client)
      }
    }.start()
  }

  /// Loses the next commit. No transaction is open.
  func loseNextCommit(_ loss: FaultTests.Loss) { self.loss.withLock { $0 = loss } }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    _ = Platform.close(listener)
    try? FileManager.default.removeItem(atPath: directory)
  }

  private func serve(_ client: Int32) {
    guard let server = try? Self.socket(connectedTo: server) else {
      _ = Platform.close(client)
      return
    }
    let losesAnswer = Atomic<Bool>(false)
    let both = Connections(client, server, losesAnswer)
    Thread { [self] in
      Self.pass(from: client, to: server) { bytes in
        if Self.isBeginning(bytes) { nextTransaction.signal() }
        guard Self.isCommit(bytes), let loss = loss.withLock({ $0.take() }) else { return true }
        lost.add(1, ordering: .relaxed)
        while nextTransaction.wait(timeout: .now()) == .success {}
        switch loss {
        case .ofAnswer:
          both.losesAnswer.store(true, ordering: .releasing)
          return true
        case .ofStatement: return false
        case .delay:
          // The client learns of the end of the connection; the server gets the statement when the
          // client has gone on.
          shutdown(client, Int32(SHUT_RDWR))
          return nextTransaction.wait(timeout: .now() + .seconds(60)) == .success
        }
      }
      both.end()
    }.start()
    Thread {
      Self.pass(from: server, to: client) { _ in
        !both.losesAnswer.load(ordering: .acquiring)
      }
      both.end()
    }.start()
  }

  /// Two ends, which are closed when both directions have ended.
  private final class Connections: Sendable {
    let client: Int32
    let server: Int32
    let losesAnswer: Atomic<Bool>
    private let ended = Atomic<Int>(0)

    init(_ client: Int32, _ server: Int32, _ losesAnswer: consuming Atomic<Bool>) {
      self.client = client
      self.server = server
      self.losesAnswer = losesAnswer
    }

    func end() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
      guard ended.add(1, ordering: .acquiringAndReleasing).newValue == 2 else { return }
      _ = Platform.close(client)
      _ = Platform.close(server)
    }
  }

  private static func isBeginning(_ bytes: UnsafeRawBufferPointer) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains("BEGIN ISOLATION LEVEL SERIALIZABLE;")
  }

  private static func isCommit(_ bytes: UnsafeRawBufferPointer) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains("at = now(); COMMIT")
  }

  /// Passes bytes on until an end is closed, or `mayPass` returns false.
  private static func pass(
    from source: Int32, to target: Int32, _ mayPass: (UnsafeRawBufferPointer) -> Bool
  ) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      let isPassed = buffer.withUnsafeBytes { bytes in
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        if !mayPass(bytes) { return false }
        var start = 0
        while start < count {
          let written = send(
            target, bytes.baseAddress.map { $0 + start }, count - start, Int32(MSG_NOSIGNAL))
          if written <= 0 { return false }
          start += written
        }
        return true
      }
      if !isPassed { return }
    }
  }

  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return address
  }

  private static func socket(
    at path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    let socket = Platform.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = address(path)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    return socket
  }

  private static func socket(connectedTo path: String) throws -> Int32 {
    try socket(at: path) { connect($0, $1, $2) }
  }

  private static func socket(bindingTo path: String) throws -> Int32 {
    let socket = try socket(at: path) { bind($0, $1, $2) }
    listen(socket, 100)
    return socket
  }
}
