// TestCluster: a PostgreSQL server for the tests of one run.
//
//  - It is made in a temporary directory, when a test first asks for it. `POSTGRES_URL` uses an
//    existing server instead.
//  - Processes that the tests start use the same server: its address is in their environment.

import DflatTestSupport
import Foundation
import Platform

/// A server for tests.
public final class TestCluster: Sendable {
  /// The connection string of a database for tests.
  public let url: String
  /// The directory of a server of the tests' own; nil for an existing one.
  public let directory: String?
  private let server: ServerProcess?
  private let variable = "DFLAT_TEST_POSTGRES"

  /// The server of this run.
  /// - Throws: `ClusterError` if there is none and none can be started.
  public static func shared() throws -> TestCluster { try result.get() }

  private static let result = Result { try TestCluster() }

  private init() throws {
    let environment = ProcessInfo.processInfo.environment
    if let url = environment["POSTGRES_URL"] ?? environment[variable], !url.isEmpty {
      self.url = url
      directory = nil
      server = nil
      return
    }
    let server = try Self.start(ServerProcess.newDirectory(), [])
    self.server = server
    directory = server.directory
    url = server.url
    setenv(variable, url, 1)
  }

  private init(_ server: ServerProcess) {
    self.server = server
    directory = server.directory
    url = server.url
  }

  private static func start(_ directory: String, _ settings: [String]) throws -> ServerProcess {
    try ServerProcess(
      in: directory,
      settings: [
        "fsync=off", "full_page_writes=off", "max_connections=2000", "shared_buffers=64MB",
        "max_pred_locks_per_transaction=512",
      ] + settings)
  }

  /// Starts another server, for a test that makes it crash, or changes its settings.
  /// - Parameter settings: More settings.
  public static func another(settings: [String] = []) throws -> TestCluster {
    TestCluster(try start(ServerProcess.newDirectory(), settings))
  }

  /// A port that was free a moment ago.
  public static func freePort() throws -> UInt16 {
    let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(handle) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(handle, $0, size) == 0 && getsockname(handle, $0, &size) == 0
      }
    }
    if !isBound { throw ClusterError("there is no free port") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Makes the server crash, if it is one of the tests' own. It starts again by itself.
  public func crash() throws { try signal(SIGQUIT) }

  /// Sends a signal to the server's first process, if it is one of the tests' own. A server that
  /// has just ended is started again first: without its first process the others go on for a
  /// moment.
  public func signal(_ signal: Int32) throws {
    guard let server else { throw ClusterError("the server is not the tests' own") }
    if !eventually({ server.signal(signal) }) { throw ClusterError("the server does not run") }
  }

  /// Stops a server of the tests' own for ever.
  public func end() { server?.end() }
}
