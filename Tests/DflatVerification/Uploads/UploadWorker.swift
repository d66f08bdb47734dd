// UploadWorker: a process that enqueues uploads and sends them, until it is killed.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Silo

/// What an upload is about; it has the number of the last one.
@Persistable(version: 1, table: "kill_accounts", shape: "id:S last:I")
struct KillAccount: Identifiable {
  var id: String
  @Indexed var last: Int
}

struct NumberedUpload: Upload {
  static let keys = ["a", "b", "c", "d"]
  let orderingKey: String
  let number: Int
}

/// The processes that are killed, and the one that does the rest.
public enum UploadWorker {
  /// Enqueues uploads, each with a change, and reports the number of each that is committed. Sends
  /// at the same time what is waiting, for ever.
  /// - Parameter words: The words after `uploads`: the file, the server's port, the number of the
  ///   first upload, how many, and the seed.
  /// - Returns: False if the words are others.
  public static func work(_ words: [String]) throws -> Bool {
    guard words.count == 5, let port = UInt16(words[1]), let first = Int(words[2]),
      let count = Int(words[3]), let seed = UInt64(words[4])
    else { return false }
    let silos = Silos(in: SQLiteWorkspace(filePath: words[0]))
    let sending = TaskQueue()
    Task(executorPreference: sending) {
      do { try await queue(in: silos).run(concurrency: 3) { try post($0, $1.key, to: port) } } catch
      {
        complain(error)
      }
    }
    var random = SeededGenerator(seed: seed)
    for number in first..<first + count {
      let upload = NumberedUpload(orderingKey: random.pick(NumberedUpload.keys), number: number)
      do { try waitForTask { try await enqueue(upload, in: silos) } } catch { complain(error) }
      var line = Array("\(number)\n".utf8)
      _ = write(1, &line, line.count)
    }
    while true { sleep(60) }
  }

  private static func enqueue(_ upload: NumberedUpload, in silos: Silos) async throws {
    try await silos.write { txn in
      try txn[KillAccount.self].save(KillAccount(id: upload.orderingKey, last: upload.number))
      try txn.enqueue(upload)
    }
  }

  /// Its output is closed then, which the other process sees.
  private static func complain(_ error: any Error) -> Never {
    FileHandle.standardError.write(Data("uploads: \(error)\n".utf8))
    exit(1)
  }

  private static func queue(in silos: Silos) -> UploadQueue<NumberedUpload> {
    UploadQueue(
      in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(8), jitter: 0.5))
  }

  /// Sends everything that is left.
  /// - Returns: What is wrong then.
  static func finish(_ path: String, port: UInt16) throws -> [String] {
    let dflat = SQLiteWorkspace(filePath: path)
    defer { dflat.shutdown() }
    let silos = Silos(in: dflat)
    return try waitForTask {
      let uploads = queue(in: silos)
      try await uploads.run(until: .idle) { try post($0, $1.key, to: port) }
      var faults = try await uploads.statuses().map { "after the end there is \($0)" }
      // What was changed with an upload that is done is not managed any more.
      for key in NumberedUpload.keys where try await silos[KillAccount.self].isManaged(key) {
        faults.append("\(key) is still managed")
      }
      return faults
    }
  }

  private struct NoAnswer: Error {}

  /// Sends an upload and waits for the answer.
  private static func post(_ upload: NumberedUpload, _ key: UUID, to port: UInt16) throws {
    let connection = socket(AF_INET, streamSocket, 0)
    defer { close(connection) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw NoAnswer() }
    let body = "\(upload.orderingKey) \(upload.number)"
    let request =
      "POST /uploads HTTP/1.0\r\nIdempotency-Key: \(key)\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    // Without a signal if the server has closed the connection.
    let sent = request.withCString { send(connection, $0, strlen($0), noSignal) }
    guard sent == request.utf8.count else { throw NoAnswer() }
    var answer = [UInt8](repeating: 0, count: 64)
    let count = recv(connection, &answer, answer.count, 0)
    guard count > 12, String(decoding: answer[9..<12], as: UTF8.self) == "204" else {
      throw NoAnswer()
    }
  }
}

#if os(Linux)
  private let streamSocket = Int32(SOCK_STREAM.rawValue)
  private let noSignal = Int32(MSG_NOSIGNAL)
#else
  private let streamSocket = SOCK_STREAM
  private let noSignal: Int32 = 0
#endif
