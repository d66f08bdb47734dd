// ServerProcess: a PostgreSQL server of the tests' own.
//
//  - It is in a temporary directory, and listens on a Unix socket there and on no network address.
//  - A shell owns it, starts it again whenever it has ended, and waits until this process has
//    ended, however it ends. Then it stops the server and removes the directory.
//
// The benchmarks, a package of their own, use this file, too: it imports nothing else of this one.

import Foundation

/// A server, which is started again whenever it has ended.
public final class ServerProcess: Sendable {
  /// The directory with the socket and the data.
  public let directory: String
  private let shell: Process
  /// Stays open until `end`, or until the process ends: the shell waits for its end.
  private let input: Pipe

  /// The connection string of its database.
  var url: String { "postgresql:///postgres?host=\(directory)&user=dflat" }

  /// A name for a directory. A socket's path must be short.
  static func newDirectory() -> String {
    "/tmp/dflat-pg-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
  }

  /// Where a server's data come from.
  enum Origin {
    /// A new cluster.
    case nothing
    /// A copy of the server in a directory, whose standby the new one is.
    case standby(of: String)
  }

  /// Makes and starts a server.
  /// - Parameters:
  ///   - directory: A directory that does not exist.
  ///   - origin: Where its data come from.
  ///   - settings: The server's settings.
  /// - Throws: `ClusterError`.
  init(in directory: String, from origin: Origin = .nothing, settings: [String]) throws {
    self.directory = directory
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let prefix = try Self.prefix()
    Self.giveToServerUser(directory, prefix)
    let data = "\(directory)/data"
    let make =
      switch origin {
      case .nothing:
        "\(try Self.tool("initdb")) -D \(data) -U dflat -A trust -E UTF8 --locale=C -N"
      case .standby(let primary):
        "\(try Self.tool("pg_basebackup")) -h \(primary) -U dflat -D \(data) -R -c fast -N"
      }
    let options = settings.map { "-c '\($0)'" }.joined(separator: " ")
    // The shell owns the server. Its standard input ends when this process does. A server that is
    // starting may not have written its number yet, so it is told more than once.
    let script = """
      cd /
      trap '' INT TERM
      if "$@" \(make) >\(directory)/make.log 2>&1
      then
        {
          while [ ! -e \(directory)/stop ]
          do
            "$@" \(try Self.tool("postgres")) -D \(data) -k \(directory) -c listen_addresses= \
              \(options) >>\(directory)/server.log 2>&1 </dev/null
            sleep 0.1
          done
          touch \(directory)/stopped
        } &
        cat >/dev/null
        touch \(directory)/stop
        until [ -e \(directory)/stopped ]
        do
          kill -QUIT $(head -n 1 \(data)/postmaster.pid) 2>/dev/null
          sleep 0.05
        done
      fi
      rm -rf \(directory)
      """
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    shell.arguments = ["-c", script, "sh"] + prefix
    input = Pipe()
    shell.standardInput = input
    // Processes that the tests start must not keep it open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    self.shell = shell
    _ = Unmanaged.passRetained(self)
    try awaitStart()
  }

  /// Returns when the server accepts connections.
  private func awaitStart() throws {
    // The server writes the last line of this file once it accepts connections.
    let deadline = Date() + 120
    while Date() < deadline {
      let file = try? String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
      if file?.contains("ready") == true { return }
      if !shell.isRunning { break }
      usleep(20_000)
    }
    throw ClusterError("the server did not start in \(directory)")
  }

  /// Sends a signal to the server's first process: SIGQUIT and SIGKILL make it crash.
  /// - Returns: False if it does not run at the moment.
  func signal(_ signal: Int32) -> Bool {
    let file = try? String(contentsOfFile: "\(directory)/data/postmaster.pid", encoding: .utf8)
    guard let first = file?.split(separator: "\n").first, let process = pid_t(first) else {
      return false
    }
    return kill(process, signal) == 0
  }

  /// Makes the server crash for ever, and removes its directory.
  public func end() {
    // It may have been called before.
    if shell.isRunning { try? input.fileHandleForWriting.close() }
    shell.waitUntilExit()
  }

  /// Where the server's programs are: in the path, or where Debian puts them.
  static func tool(_ name: String) throws -> String {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    var folders =
      versions
      .sorted { $0.compare($1, options: .numeric) == .orderedDescending }
      .map { "\(root)/\($0)/bin" }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    folders += path.split(separator: ":").map(String.init)
    for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
      return "\(folder)/\(name)"
    }
    throw ClusterError(
      "there is no \(name): install PostgreSQL, on Debian postgresql-15, or set POSTGRES_URL")
  }

  /// Makes the user that runs a server the owner of a directory.
  /// - Parameter prefix: The words of `prefix()`.
  static func giveToServerUser(_ directory: String, _ prefix: [String]) {
    if let user = prefix.isEmpty ? nil : getpwnam(prefix[1].replacing("--reuid=", with: "")) {
      chown(directory, user.pointee.pw_uid, user.pointee.pw_gid)
    }
  }

  /// The words before a command that run it as a user that may start a server: root may not.
  static func prefix() throws -> [String] {
    if getuid() != 0 { return [] }
    let users: [String] = ["postgres", "nobody"]
    guard let user = users.first(where: { getpwnam($0) != nil }) else {
      throw ClusterError("root may not start a server, and there is no user postgres or nobody")
    }
    let group = getpwnam(user)?.pointee.pw_gid ?? 0
    return ["setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups"]
  }
}

/// Why there is no server.
public struct ClusterError: Error, CustomStringConvertible {
  /// The reason.
  public let description: String

  init(_ description: String) { self.description = description }
}
