// Kills of the process that uploads: nothing that was committed is lost, nothing is out of order,
// and what is sent again has its key.

import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Silo
import Testing

/// Uploads, and kills the process around the n-th upload.
private func uploadAndDie(_ directory: String, after count: Int, beforeAnswer: Bool) async throws {
  let silos = Silos(in: SQLiteWorkspace(filePath: directory + "/test.db"))
  let record = UploadRecord(path: directory + "/record")
  let sent = Mutex(0)
  try await UploadQueue<RecordedUpload>(
    in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(2))
  ).run(concurrency: 3, until: .idle) { upload, context in
    let isLast = sent.withLock {
      $0 += 1
      return $0 == count
    }
    if isLast, beforeAnswer { kill(getpid(), SIGKILL) }
    record.append("got", upload, context.key)
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
          let upload = RecordedUpload(
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
    let record = UploadRecord(path: directory + "/record")
    let queue = UploadQueue<RecordedUpload>(
      in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(2)))
    try await queue.run(until: .idle) { record.append("got", $0, $1.key) }

    let lines = record.lines()
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
