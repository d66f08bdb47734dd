// TestCluster: a PostgreSQL server for the tests of one run.
//
//  - It is made in a temporary directory, when a test first asks for it, and listens on a Unix
//    socket there and on no network address. `POSTGRES_URL` uses an existing server instead.
//  - A shell waits until this process has ended, however it ends, then stops the server and removes
//    the directory.
//  - Processes that the tests start use the same server: its address is in their environment.

import Foundation
import Platform

/// A server for tests.
public final class TestCluster: Sendable {
  /// The connection string of a database for tests.
  public let url: String
  /// The directory of a server of the tests' own; nil for an existing one.
  public let directory: String?
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
      return
    }
    let directory = try Self.start()
    self.directory = directory
    url = Self.url(directory)
    setenv(variable, url, 1)
  }

  private static func url(_ directory: String) -> String {
    "postgresql:///postgres?host=\(directory)&user=dflat"
  }

  private init(of directory: String) {
    self.directory = directory
    url = Self.url(directory)
  }

  /// Starts another server, for a test that makes it crash.
  public static func another() throws -> TestCluster { TestCluster(of: try start()) }

  /// Makes the server crash, if it is one of the tests' own. It starts again by itself.
  public func crash() throws {
    guard let directory else { throw ClusterError("the server is not the tests' own") }
    let file = try String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
    if let first = file.split(separator: "\n").first, let process = pid_t(first) {
      kill(process, SIGQUIT)
    }
  }

  /// Where the server's programs are: in the path, or where Debian puts them.
  private static func tool(_ name: String) throws -> String {
    let folders =
      ["/usr/lib/postgresql"].flatMap { root in
        ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
          .sorted { $0.compare($1, options: .numeric) == .orderedDescending }
          .map { "\(root)/\($0)/bin" }
      } + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
      return "\(folder)/\(name)"
    }
    throw ClusterError(
      "there is no \(name): install PostgreSQL, on Debian postgresql-15, or set POSTGRES_URL")
  }

  /// The words before a command that run it as a user that may start a server: root may not.
  private static func prefix() throws -> [String] {
    if getuid() != 0 { return [] }
    let users: [String] = ["postgres", "nobody"]
    guard let user = users.first(where: { getpwnam($0) != nil }) else {
      throw ClusterError("root may not start a server, and there is no user postgres or nobody")
    }
    let group = getpwnam(user)?.pointee.pw_gid ?? 0
    return ["setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups"]
  }

  /// Makes and starts a server.
  /// - Returns: Its directory.
  private static func start() throws -> String {
    // A socket's path must be short.
    let directory = "/tmp/dflat-pg-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let prefix = try prefix()
    if let user = prefix.isEmpty ? nil : getpwnam(prefix[1].replacing("--reuid=", with: "")) {
      chown(directory, user.pointee.pw_uid, user.pointee.pw_gid)
    }
    let data = "\(directory)/data"
    let initdb = try tool("initdb")
    let postgres = try tool("postgres")
    // The shell owns the server. Its standard input ends when this process does.
    let script = """
      cd /
      trap '' INT TERM
      if "$@" \(initdb) -D \(data) -U dflat -A trust -E UTF8 --locale=C -N >\(directory)/initdb.log 2>&1
      then
        while [ ! -e \(directory)/stop ]
        do
          "$@" \(postgres) -D \(data) -k \(directory) -c listen_addresses= -c fsync=off \
            -c full_page_writes=off -c max_connections=2000 -c shared_buffers=64MB \
            -c max_pred_locks_per_transaction=512 >>\(directory)/server.log 2>&1 </dev/null
          sleep 0.1
        done &
        cat >/dev/null
        touch \(directory)/stop
        kill -QUIT $(head -n 1 \(data)/postmaster.pid) 2>/dev/null
        wait
      fi
      rm -rf \(directory)
      """
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script, "sh"] + prefix
    let input = Pipe()
    shell.standardInput = input
    // Processes that the tests start must not keep it open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    running.withLock { $0.append((shell, input)) }
    // The server writes the last line of this file once it accepts connections.
    let deadline = Date() + 120
    while Date() < deadline {
      let file = try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)
      if file?.contains("ready") == true { return directory }
      if !shell.isRunning { break }
      usleep(20_000)
    }
    throw ClusterError("the server did not start in \(directory)")
  }

  /// Keeps the pipes open until the process ends.
  private static let running = Mutex<[(Process, Pipe)]>([])
}

/// Why there is no server.
public struct ClusterError: Error, CustomStringConvertible {
  /// The reason.
  public let description: String

  init(_ description: String) { self.description = description }
}
