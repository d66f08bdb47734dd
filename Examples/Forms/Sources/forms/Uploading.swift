// Fetching from the server, editing without it, and uploading with a crash in between.

import Foundation
import SQLiteDflat
import Silo

enum Uploading {
  private static func silos(in directory: URL) -> Silos {
    Silos(in: SQLiteWorkspace(filePath: directory.appending(path: "offline.db").path()))
  }

  private static func queue(in silos: Silos) -> UploadQueue<AnswerUpload> {
    UploadQueue(
      in: silos, retry: .exponential(from: .milliseconds(50), to: .seconds(2), jitter: 0.2))
  }

  static func demo(in directory: URL) async throws {
    let record = directory.appending(path: "server.jsonl")
    var server = try Server(record: record)
    let silos = silos(in: directory)
    try await silos[Form.self].save(Steps.forms.prefix(8))
    let users = silos[User.self]
    print("users that forms refer to and that are not fetched: \(try await users.unresolvedIDs())")
    let api = API(port: server.port)
    users.resolve { try await api.users($0) }
    let names = try await withThrowingTaskGroup { group in
      for form in try await silos[Form.self].values() {
        group.addTask { try await silos.resolve(form.author).name }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    print("resolved in one request: \(names.sorted().joined(separator: ", "))")

    await server.stop()
    for number in 0..<12 {
      let answer = Answer(
        id: UUID(), form: .unresolved(id: number % 8), texts: ["offline \(number)"])
      try await silos.write { txn in
        try txn[Answer.self].save(answer)
        try txn.enqueue(AnswerUpload.send(answer.id))
      }
    }
    let waiting = try await queue(in: silos).statuses().count
    print("the server is down; 12 answers were saved, and \(waiting) uploads wait")

    server = try Server(record: record)
    let ended = try await upload(in: directory, port: server.port, crash: 5)
    let left = try await queue(in: silos).statuses().count
    print("the uploading process killed itself (\(ended)) with \(left) uploads left")
    let last = try await upload(in: directory, port: server.port, crash: nil)
    let rest = try await queue(in: silos).statuses().count
    print("started again, it ended with \(last), and \(rest) uploads are left")

    print("\n# What the server has got\n")
    let lines = try await API(port: server.port).record()
    for event in ["users", "applied", "repeated", "refused"] {
      print("\(event): \(lines.filter { $0["event"] == event }.count)")
    }
    let applied = lines.filter { $0["event"] == "applied" }.compactMap { $0["id"] }
    await server.stop()
    guard Set(applied).count == 12, applied.count == 12, rest == 0 else {
      throw Failure(description: "of 12 answers the server has applied \(applied)")
    }
    print("each of the 12 answers was applied once")
  }

  /// Runs the uploading process.
  /// - Returns: How it ended.
  private static func upload(in directory: URL, port: Int, crash: Int?) async throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["--upload", directory.path(), "\(port)"] + (crash.map { ["\($0)"] } ?? [])
    try await process.ended(after: { try process.run() })
    return process.terminationReason == .uncaughtSignal
      ? "signal \(process.terminationStatus)" : "status \(process.terminationStatus)"
  }

  /// What the uploading process does.
  static func run(in directory: URL, port: Int, crash: Int?) async throws {
    let silos = silos(in: directory)
    let api = API(port: port)
    let sent = Counter()
    try await queue(in: silos).run(concurrency: 3, until: .idle) { upload, context in
      guard case .send(let id) = upload, let answer = try await silos[Answer.self].load(id) else {
        return
      }
      try await api.send(answer, key: context.key)
      // The server has the answer, and the queue does not know that yet.
      if await sent.next() == crash { kill(getpid(), SIGKILL) }
    }
  }
}

private actor Counter {
  private var count = 0

  func next() -> Int {
    count += 1
    return count
  }
}
