// Kills of the process that uploads: nothing that was committed is lost, nothing is out of order,
// and what is sent again has its key.

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

/// What a server has got, as lines of a file.
private struct Record {
  let path: String

  /// Adds a line; it is there when this returns, whatever happens to the process.
  func append(_ upload: Numbered, _ key: UUID) {
    let line = "\(upload.orderingKey) \(upload.number) \(key)\n"
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = line.withCString { write(file, $0, strlen($0)) }
    close(file)
  }

  func lines() throws -> [(orderingKey: String, number: Int, key: String)] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
      let parts = line.split(separator: " ").map(String.init)
      return (parts[0], Int(parts[1]) ?? -1, parts[2])
    }
  }
}

/// Uploads, and kills the process around the n-th upload.
private func uploadAndDie(_ directory: String, after count: Int, beforeAnswer: Bool) async throws {
  let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
  let record = Record(path: directory + "/record")
  let sent = Mutex(0)
  try await UploadQueue<Numbered>(
    in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(2))
  ).run(concurrency: 3, until: .idle) { upload, context in
    let isLast = sent.withLock {
      $0 += 1
      return $0 == count
    }
    if isLast, beforeAnswer { kill(getpid(), SIGKILL) }
    record.append(upload, context.key)
    if isLast { kill(getpid(), SIGKILL) }
  }
  // Nothing was left to do.
  kill(getpid(), SIGKILL)
}

@Suite("Killed uploads")
struct UploadKillTests {
  @Test("Every committed upload arrives, in order, and repetitions have its key")
  func kills() async throws {
    var random = SeededGenerator(seed: testSeed())
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())").path()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let keys = ["a", "b", "c", "d"]
    var next = 0
    for _ in 0..<(isLongRun ? 200 : 8) {
      do {
        let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
        for _ in 0..<6 {
          let upload = Numbered(
            orderingKey: keys[Int.random(in: 0..<4, using: &random)], number: next)
          next += 1
          try await silos.write { txn in
            try txn[Tag.self].save(Tag(id: upload.orderingKey, color: "\(upload.number)"))
            try txn.enqueue(upload)
          }
        }
      }
      let count = Int.random(in: 1...5, using: &random)
      let beforeAnswer = Bool.random(using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = directory as String, count = count as Int, beforeAnswer = beforeAnswer as Bool]
        in
        try await uploadAndDie(directory, after: count, beforeAnswer: beforeAnswer)
      }
    }
    let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
    let record = Record(path: directory + "/record")
    let queue = UploadQueue<Numbered>(
      in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(2)))
    try await queue.run(until: .idle) { record.append($0, $1.key) }

    let lines = try record.lines()
    let seed = random.seed
    #expect(Set(lines.map(\.number)) == Set(0..<next), "DFLAT_SEED=\(seed)")
    for number in 0..<next {
      let ids = Set(lines.filter { $0.number == number }.map(\.key))
      #expect(ids.count == 1, "upload \(number) was sent with \(ids); DFLAT_SEED=\(seed)")
    }
    for key in keys {
      let numbers = lines.filter { $0.orderingKey == key }.map(\.number)
      #expect(numbers == numbers.sorted(), "\(key): \(numbers); DFLAT_SEED=\(seed)")
    }
    #expect(try await queue.statuses().isEmpty)
  }
}
