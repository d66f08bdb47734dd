// ChildProcess: a process that starts quickly, writes to its standard output, and can be killed.

import Platform

/// A process could not be started.
public struct CannotStart: Error {
  let command: String
  let systemError: Int32
}

/// A running process.
public final class ChildProcess {
  private let process: pid_t
  private let output: Int32
  private var status: Int32?

  /// Starts a command.
  public init(_ command: String, _ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw CannotStart(command: command, systemError: errno) }
    // No other child may hold the pipe open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    var words: [UnsafeMutablePointer<CChar>?] = ([command] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, command, &actions, nil, words, environ)
    close(ends[1])
    guard result == 0 else {
      close(ends[0])
      throw CannotStart(command: command, systemError: result)
    }
    self.process = process
    output = ends[0]
  }

  deinit {
    if status == nil { kill() }
    close(output)
  }

  /// Reads the available output, waiting for at most this long.
  /// - Returns: Nothing after the timeout; nil if the process has closed its output.
  public func read(milliseconds: Int) -> [UInt8]? {
    var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    if poll(&request, 1, Int32(milliseconds)) <= 0 { return [] }
    var buffer = [UInt8](repeating: 0, count: 65536)
    #if canImport(Darwin)
      let count = Darwin.read(output, &buffer, buffer.count)
    #else
      let count = Glibc.read(output, &buffer, buffer.count)
    #endif
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }

  /// Kills it and waits for its end. Its output can still be read.
  public func kill() {
    #if canImport(Darwin)
      Darwin.kill(process, SIGKILL)
    #else
      Glibc.kill(process, SIGKILL)
    #endif
    wait()
  }

  private func wait() {
    var ended: Int32 = 0
    while waitpid(process, &ended, 0) < 0, errno == EINTR {}
    status = ended
  }

  /// Waits for its end.
  /// - Returns: The system's exit status, 0 for success, and its whole output.
  public func waitForOutput() -> (status: Int32, output: String) {
    var text: [UInt8] = []
    while let bytes = read(milliseconds: 60_000) { text += bytes }
    if status == nil { wait() }
    return (status ?? 0, String(decoding: text, as: UTF8.self))
  }
}
