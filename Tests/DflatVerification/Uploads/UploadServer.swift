// UploadServer: an HTTP server in a process of its own, which fails, delays and drops answers at
// random. It applies each key once, and writes down what it has applied.

import Foundation

/// A running server.
struct UploadServer {
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

  /// What was applied: an ordering key, a number and an idempotency key.
  struct Applied {
    let orderingKey: String
    let number: Int
    let key: String
  }

  let port: UInt16
  private let process: ChildProcess
  private let record: String

  /// Starts a server.
  /// - Parameter record: The file for what it applies.
  init(record: String, seed: UInt64) throws {
    self.record = record
    process = try ChildProcess(
      "/usr/bin/env", ["python3", "-c", Self.program, record, "\(seed)"])
    var line: [UInt8] = []
    while !line.contains(UInt8(ascii: "\n")), let more = process.read(milliseconds: 60_000),
      !more.isEmpty
    {
      line += more
    }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard let port = UInt16(text) else { throw NoServer() }
    self.port = port
  }

  private struct NoServer: Error, CustomStringConvertible {
    var description: String { "python3 has started no server" }
  }

  /// Everything that was applied, in order.
  func applied() throws -> [Applied] {
    try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n").map { line in
      let parts = line.split(separator: " ").map(String.init)
      return Applied(orderingKey: parts[0], number: Int(parts[1]) ?? -1, key: parts[2])
    }
  }
}
