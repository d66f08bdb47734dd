// Fetching from the server, editing without it, and uploading with a crash in between.

import Foundation
import SQLiteDflat
import Silo

/// Runs `body`, and prints how long it took.
/// - Parameter report: Says what was done.
@discardableResult
func timed<R>(
  _ body: () async throws -> R, report: (R) -> String
) async rethrows -> R {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try await body()
  print("\(report(result)), \((clock.now - start).inMilliseconds)")
  return result
}

extension Duration {
  var inMilliseconds: String {
    formatted(.units(allowed: [.milliseconds], fractionalPart: .show(length: 1)))
  }
}

enum Uploading {
  private static func silos(in directory: URL) -> Silos {
    Silos(
      in: SQLiteWorkspace(
        filePath: directory.appending(path: "offline.db").path(percentEncoded: false)))
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
    let missing = try await users.unresolvedIDs().map(String.init).joined(separator: " ")
    print("8 forms are stored; their authors are not: users \(missing)")
    let api = API(port: server.port)
    users.resolve { try await api.users($0) }
    let names = try await timed {
      try await withThrowingTaskGroup { group in
        for form in try await silos[Form.self].values() {
          group.addTask { try await silos.resolve(form.author).name }
        }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
    } report: {
      "the authors of all 8 were asked for one by one and came in one request: "
        + $0.sorted().joined(separator: ", ")
    }
    let (one, number) = (try await silos[Form.self].values(limit: 1), names.count)
    guard number == 6, try await users.count() == 6, let form = one.first else {
      throw Failure(description: "of 6 users the store has \(try await users.count())")
    }

    await server.stop()
    try await timed {
      for number in 1...12 {
        let answer = Answer(id: UUID(), form: .init(form), texts: ["answer \(number)"])
        try await silos.write { txn in
          try txn[Answer.self].save(answer)
          try txn.enqueue(AnswerUpload.send(answer.id))
        }
      }
    } report: {
      "the server is down; 12 answers were saved, each with an upload in its transaction"
    }
    let waiting = try await queue(in: silos).statuses().count
    print("\(waiting) uploads wait")

    server = try Server(record: record)
    print("the server is up again, with the record that it has kept")
    _ = try await timed {
      try await upload(in: directory, port: server.port, crash: 5)
    } report: {
      "a process uploaded and killed itself (\($0)), before it noted its fifth upload as done"
    }
    let left = try await queue(in: silos).statuses()
    print(
      "\(left.count) uploads are left; \(left.filter { $0.attempts > 0 }.count) of them "
        + "failed and will be tried again")
    _ = try await timed {
      try await upload(in: directory, port: server.port, crash: nil)
    } report: {
      "the next process sent what was left (\($0))"
    }
    let rest = try await queue(in: silos).statuses().count
    print("\(rest) uploads are left")

    print("\n# The server's own record\n")
    let lines = try await API(port: server.port).record()
    for line in lines { print(line) }
    await server.stop()
    func count(_ event: RecordLine.Event) -> Int { lines.filter { $0.event == event }.count }
    let applied = lines.filter { $0.event == .applied }.compactMap(\.id)
    guard Set(applied).count == 12, applied.count == 12, rest == 0 else {
      throw Failure(description: "of 12 answers the server has applied \(applied)")
    }
    print(
      "\n12 answers: each was applied once. \(count(.refused)) were refused and came later, "
        + "\(count(.repeated)) came twice.")
  }

  /// Runs the uploading process.
  /// - Returns: How it ended.
  private static func upload(in directory: URL, port: Int, crash: Int?) async throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments =
      ["--upload", directory.path(percentEncoded: false), "\(port)"]
      + (crash.map { ["\($0)"] } ?? [])
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
