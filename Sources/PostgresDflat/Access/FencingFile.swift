// FencingFile: the newest timeline of a server that was used, from run to run of a program.
//
//   dflat-fence SYSTEM-IDENTIFIER TIMELINE
//
// One line of text. The timeline in the file only grows: a new file replaces it in one step, under
// a lock that the programs of a machine share.

import Dflat
import Foundation
import Platform

struct FencingFile: Sendable {
  let path: String

  /// - Returns: What the file has; nil if there is none.
  /// - Throws: `StorageError`.
  func read() throws -> ServerIdentity? {
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      if !FileManager.default.fileExists(atPath: path) { return nil }
      throw unusable("it cannot be read: \(error.localizedDescription)")
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 3, words[0] == "dflat-fence", let timeline = Int(words[2]) else {
      throw unusable("it is no fencing file")
    }
    return ServerIdentity(system: String(words[1]), timeline: timeline)
  }

  /// Keeps the timeline of a server, unless a newer one is kept.
  /// - Throws: `StorageError`; `LeftBehind` if the file has another one that is newer.
  func keep(_ server: ServerIdentity) throws {
    if try read() == server { return }
    let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
      throw unusable("\(path).lock cannot be locked: \(String(cString: strerror(errno)))")
    }
    defer { close(lock) }
    if let kept = try read() {
      let isOlder = server.timeline ?? 0 < kept.timeline ?? 0
      if kept.system != server.system || isOlder { throw LeftBehind(server: server, last: kept) }
    }
    let line = "dflat-fence \(server.system) \(server.timeline ?? 0)\n"
    do {
      try Data(line.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw unusable("it cannot be written: \(error.localizedDescription)")
    }
  }

  private func unusable(_ reason: String) -> StorageError {
    StorageError(
      .cannotOpen, message: "the fencing file \(path): \(reason)",
      advice: "correct fencingFile, or the rights on the file and its folder; delete the file only "
        + "if the connection string leads to the right server")
  }
}
