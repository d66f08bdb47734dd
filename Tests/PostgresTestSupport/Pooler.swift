// Pooler: PgBouncer between programs and a server of the tests.

import Foundation

/// A connection pooler, which ends with this process.
public final class Pooler: Sendable {
  /// When a session of the server is given to another client.
  public enum Mode: String, CaseIterable, Sendable {
    /// When the client has ended its connection.
    case session
    /// After each transaction.
    case transaction
    /// After each statement.
    case statement
  }

  /// The connection string of the pooler.
  public let url: String
  private let directory: String
  private let shell: Process
  private let input = Pipe()

  /// Whether there is such a program.
  public static var isInstalled: Bool { (try? program()) != nil }

  private static func program() throws -> String {
    for folder in ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"] {
      let path = "\(folder)/pgbouncer"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw ClusterError("there is no pgbouncer: install it, on Debian pgbouncer")
  }

  /// Starts a pooler.
  /// - Parameters:
  ///   - mode: When it gives sessions to other clients.
  ///   - url: The connection string of a server; nil for the tests' one.
  ///   - size: How many sessions it has at most.
  /// - Throws: `ClusterError`.
  public init(_ mode: Mode, to url: String? = nil, size: Int = 20) throws {
    let url = try url ?? TestCluster.shared().url
    let server = try ServerAddress(url)
    directory = "/tmp/dflat-pool-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let settings = """
      [databases]
      * = host=\(server.host) port=\(server.port) user=dflat
      [pgbouncer]
      unix_socket_dir = \(directory)
      listen_port = 5432
      auth_type = any
      pool_mode = \(mode.rawValue)
      default_pool_size = \(size)
      max_client_conn = 500
      """
    try settings.write(toFile: "\(directory)/settings", atomically: false, encoding: .utf8)
    let prefix = try ServerProcess.prefix()
    ServerProcess.giveToServerUser(directory, prefix)
    let local = url.setting("host", to: directory).setting("port", to: "5432")
    self.url = url.contains("hostaddr") ? local.setting("hostaddr", to: "") : local
    shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    // Its standard input ends with this process.
    let script = """
      cd /
      trap '' INT TERM
      "$@" >\(directory)/log 2>&1 </dev/null &
      pooler=$!
      cat >/dev/null
      kill -KILL $pooler
      rm -rf \(directory)
      """
    shell.arguments =
      ["-c", script, "sh"] + prefix + [try Self.program(), "\(directory)/settings"]
    shell.standardInput = input
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    let deadline = Date() + 60
    while (try? PlainConnection(self.url)) == nil {
      if Date() > deadline { throw ClusterError("pgbouncer did not start in \(directory)") }
      usleep(20_000)
    }
  }

  /// Ends the pooler, and all connections through it.
  public func end() {
    try? input.fileHandleForWriting.close()
    shell.waitUntilExit()
  }
}
