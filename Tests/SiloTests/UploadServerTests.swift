// Kills of the process that uploads to a server over HTTP, which fails, delays and drops answers at
// random: nothing that was committed is lost, nothing is applied twice, and nothing out of order.

import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Silo
import Testing

private struct Numbered: Upload {
  let orderingKey: String
  let number: Int
}

/// A server in a process of its own. It applies each key once, and writes down what it has applied.
private struct Server {
  private static let program = """
    import http.server, random, sys, threading, time
    random.seed(int(sys.argv[2]))
    record = open(sys.argv[1], "a")
    applied, lock = set(), threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"
        def log_message(self, *arguments): pass
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            key = self.headers["Idempotency-Key"]
            fate = random.random()
            if fate < 0.1:
                return self.send_error(503)
            if fate < 0.2:
                return self.connection.close()
            if fate < 0.4:
                time.sleep(random.random() * 0.03)
            with lock:
                if key not in applied:
                    applied.add(key)
                    record.write(body + " " + key + "\\n")
                    record.flush()
            # The answer to what was applied may be lost, too.
            if fate > 0.85:
                return self.connection.close()
            self.send_response(204)
            self.end_headers()

    class Server(http.server.ThreadingHTTPServer):
        # A dropped connection is no news.
        def handle_error(self, request, address): pass

    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  let port: UInt16
  private let process: Process

  init(record: String, seed: UInt64) throws {
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.program, record, "\(seed)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    port = try #require(UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// Other signals are blocked in processes that a test starts.
  func end() { _ = kill(process.processIdentifier, SIGKILL) }
}

private struct NoAnswer: Error {}

/// Sends an upload and waits for the answer.
private func post(_ upload: Numbered, _ key: UUID, to port: UInt16) throws {
  let connection = socket(AF_INET, streamSocket, 0)
  defer { close(connection) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let result = withUnsafeBytes(of: &address) {
    connect(
      connection, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
  }
  guard result == 0 else { throw NoAnswer() }
  let body = "\(upload.orderingKey) \(upload.number)"
  let request =
    "POST /uploads HTTP/1.0\r\nIdempotency-Key: \(key)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    + body
  // Without a signal if the server has closed the connection.
  let sent = request.withCString { send(connection, $0, strlen($0), noSignal) }
  guard sent == request.utf8.count else { throw NoAnswer() }
  var answer = [UInt8](repeating: 0, count: 64)
  let count = recv(connection, &answer, answer.count, 0)
  guard count > 12, String(decoding: answer[9..<12], as: UTF8.self) == "204" else {
    throw NoAnswer()
  }
}

#if os(Linux)
  private let streamSocket = Int32(SOCK_STREAM.rawValue)
  private let noSignal = Int32(MSG_NOSIGNAL)
#else
  private let streamSocket = SOCK_STREAM
  private let noSignal: Int32 = 0
#endif

private func queue(_ silos: Silos) -> UploadQueue<Numbered> {
  UploadQueue(
    in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(8), jitter: 0.5))
}

/// Uploads, and is killed at any moment.
private func uploadAndDie(_ directory: String, _ port: UInt16, microseconds: UInt32) async throws {
  let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
  Thread.detachNewThread {
    usleep(microseconds)
    kill(getpid(), SIGKILL)
  }
  try await queue(silos).run(concurrency: 3) { try post($0, $1.key, to: port) }
}

@Suite("Killed uploads to a server")
struct UploadServerTests {
  @Test("Every committed upload is applied once, and in order")
  func kills() async throws {
    var random = SeededGenerator(seed: testSeed())
    let seed = random.seed
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())").path()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let server = try Server(record: directory + "/record", seed: seed)
    defer { server.end() }
    let keys = ["a", "b", "c", "d"]
    var next = 0
    for _ in 0..<(isLongRun ? 2000 : 10) {
      do {
        let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
        for _ in 0..<8 {
          let upload = Numbered(orderingKey: keys.randomElement(using: &random)!, number: next)
          next += 1
          try await silos.write { txn in
            try txn[Tag.self].save(Tag(id: upload.orderingKey, color: "\(upload.number)"))
            try txn.enqueue(upload)
          }
        }
      }
      let time = UInt32.random(in: 1_000...80_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = directory as String, port = server.port as UInt16, time = time as UInt32] in
        try await uploadAndDie(directory, port, microseconds: time)
      }
    }
    let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
    let uploads = queue(silos)
    try await uploads.run(until: .idle) { try post($0, $1.key, to: server.port) }
    #expect(try await uploads.statuses().isEmpty)

    let lines = try String(contentsOfFile: directory + "/record", encoding: .utf8)
      .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    let numbers = lines.compactMap { Int($0[1]) }
    #expect(numbers.sorted() == Array(0..<next), "DFLAT_SEED=\(seed)")
    for key in keys {
      let numbers = lines.filter { $0[0] == key }.compactMap { Int($0[1]) }
      #expect(numbers == numbers.sorted(), "\(key), DFLAT_SEED=\(seed)")
    }
    // What was changed with an upload that is done is not managed any more.
    for key in keys { #expect(try await !silos[Tag.self].isManaged(key)) }
  }
}
