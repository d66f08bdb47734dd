// Several processes with one store: what each observes, and which of them sends the uploads.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresTestSupport
import SQLiteDflat
import Testing

@testable import Silo

private let retry = UploadRetry.exponential(from: .milliseconds(10), to: .milliseconds(20))

/// Where processes share a store.
private struct SharedPlace: Sendable {
  let directory: String
  var record: UploadRecord { UploadRecord(path: directory + "/record") }

  /// Silos in the file, for this process.
  func silos() -> Silos { Silos(in: SQLiteWorkspace(filePath: directory + "/test.db")) }

  private func path(_ mark: String) -> String { directory + "/mark-" + mark }

  /// Tells other processes something.
  func set(_ mark: String) {
    #expect(FileManager.default.createFile(atPath: path(mark), contents: nil))
  }

  func isSet(_ mark: String) -> Bool { FileManager.default.fileExists(atPath: path(mark)) }

  /// Waits until another process has told something.
  func wait(for mark: String) async throws {
    try await wait(for: mark) { isSet(mark) }
  }

  /// Waits for something that other processes do.
  func wait(for what: String, _ condition: @escaping @Sendable () -> Bool) async throws {
    try await #require(beyondTasks { eventually(condition) }, "\(what) did not come")
  }

  /// A child process: sends what waits, and ends when nothing does.
  /// - Parameters:
  ///   - patience: How long a lease is respected that is not renewed.
  ///   - send: Called between the beginning and the end of each upload.
  func upload(
    concurrency: Int = 3, patience: Duration = .seconds(10),
    _ send: @escaping @Sendable (RecordedUpload) async throws -> Void
  ) async throws {
    let queue = UploadQueue<RecordedUpload>(in: silos(), retry: retry)
    queue.runs.lease.patience = patience
    try await queue.run(concurrency: concurrency, until: .idle) { upload, context in
      record.append("begin", upload, context.key)
      try await send(upload)
      record.append("end", upload, context.key)
    }
  }

  /// Enqueues uploads of four keys in turn.
  func enqueue(_ numbers: Range<Int>, in silos: Silos) async throws {
    for number in numbers {
      try await silos.write {
        try $0.enqueue(RecordedUpload(orderingKey: "\(number % 4)", number: number))
      }
    }
  }

  /// Expects that each upload arrived, in the order of its key, and each repetition with its key.
  func expectArrival(of count: Int, repeated: Set<Int> = []) {
    let lines = record.lines()
    let begun = lines.filter { $0.event == "begin" }
    for number in 0..<count {
      let keys = begun.filter { $0.number == number }.map(\.key)
      #expect(keys.count == (repeated.contains(number) ? 2 : 1), "upload \(number): \(keys)")
      #expect(Set(keys).count == 1, "upload \(number): \(keys)")
    }
    for key in Set(begun.map(\.orderingKey)) {
      let numbers = begun.filter { $0.orderingKey == key }.map(\.number)
      #expect(numbers == numbers.sorted(), "\(key): \(numbers)")
    }
  }
}

private enum ChildRole: String {
  case sender, otherSender, killed, suspended
}

// A test that waits for an exit test blocks a thread of Swift's pool, so children with which a test
// goes on meanwhile are started otherwise: as this test program, with one test.
extension SharedPlace {
  private static let variable = "DFLAT_SILO_CHILD"

  /// What this process does as a child; nil in the parent.
  static let child: (role: ChildRole, place: SharedPlace)? = {
    guard let text = ProcessInfo.processInfo.environment[variable] else { return nil }
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    return ChildRole(rawValue: parts[0]).map { ($0, SharedPlace(directory: parts[1])) }
  }()

  func start(_ role: ChildRole) throws -> Child {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = [
      "--testing-library", "swift-testing", "--filter", "SiloTests.SharedProcessTests/child",
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(
      [Self.variable: "\(role.rawValue):\(directory)"]
    ) { $1 }
    process.standardOutput = FileHandle.nullDevice
    let child = Child(process)
    try process.run()
    return child
  }
}

/// A child process that runs beside its test.
private final class Child: Sendable {
  let process: Process
  private let ends: AsyncStream<String>

  init(_ process: Process) {
    self.process = process
    let (ends, continuation) = AsyncStream<String>.makeStream()
    self.ends = ends
    process.terminationHandler = { process in
      let isSignal = process.terminationReason == .uncaughtSignal
      continuation.yield("\(isSignal ? "signal" : "exit") \(process.terminationStatus)")
      continuation.finish()
    }
  }

  /// How it has ended, when it has.
  var status: String? {
    get async { await ends.first { _ in true } }
  }
}

/// How many uploads are being sent.
private final class Sending: Sendable {
  let count = Mutex(0)
}

private func withSharedPlace(_ body: (SharedPlace) async throws -> Void) async throws {
  let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())").path()
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  try await body(SharedPlace(directory: directory))
}

@Suite("Several processes with one store", .endsSometime)
struct SharedProcessTests {
  // MARK: Uploads

  @Test("Of two processes that run a queue one sends at a time, and each upload once")
  func twoSenders() async throws {
    try await withSharedPlace { place in
      try await place.enqueue(0..<40, in: place.silos())
      let children = [try place.start(.sender), try place.start(.otherSender)]
      for child in children { #expect(await child.status == "exit 0") }
      place.expectArrival(of: 40)
      // What one process has begun it has also ended before another one begins anything.
      var running: [pid_t: Int] = [:]
      for line in place.record.lines() {
        if line.event == "begin" {
          let others = running.filter { $0.key != line.process && $0.value > 0 }
          #expect(others.isEmpty, "\(line.process) has begun \(line.number) beside \(others)")
        }
        running[line.process, default: 0] += line.event == "begin" ? 1 : -1
      }
      #expect(
        try await UploadQueue<RecordedUpload>(in: place.silos(), retry: retry).statuses().isEmpty)
    }
  }

  @Test("A process that waits goes on at once when the sending process is killed")
  func killedSender() async throws {
    try await withSharedPlace { place in
      try await place.enqueue(0..<12, in: place.silos())
      let child = try place.start(.killed)
      try await place.wait(for: "sending")
      // No lease is waited for: the process has ended.
      let queue = UploadQueue<RecordedUpload>(in: place.silos(), retry: retry)
      queue.runs.lease.patience = .seconds(3600)
      let record = place.record
      async let rest: Void = queue.run(concurrency: 1, until: .idle) { upload, context in
        record.append("begin", upload, context.key)
      }
      place.set("waiting")
      #expect(await child.status == "signal \(SIGKILL)")
      try await rest
      place.expectArrival(of: 12, repeated: [2])
    }
  }

  @Test("A process that was suspended loses the lease, and sends nothing more when it goes on")
  func suspendedSender() async throws {
    try await withSharedPlace { place in
      try await place.enqueue(0..<12, in: place.silos())
      let child = try place.start(.suspended)
      let record = place.record
      try await place.wait(for: "upload 2") { record.has("begin", 2) }
      let sender = child.process.processIdentifier
      kill(sender, SIGSTOP)
      defer { kill(sender, SIGCONT) }
      let queue = UploadQueue<RecordedUpload>(in: place.silos(), retry: retry)
      queue.runs.lease.patience = .seconds(10)
      try await queue.run(concurrency: 1, until: .idle) { upload, context in
        record.append("begin", upload, context.key)
        if upload.number == 2 {
          // The other process finds that it has lost the lease while this one still sends.
          place.set("resumed")
          kill(sender, SIGCONT)
          try await place.wait(for: "the end of upload 2") { record.has("end", 2) }
        }
      }
      #expect(await child.status == "exit 0")
      place.expectArrival(of: 12, repeated: [2])
      let begun = record.lines().filter { $0.event == "begin" && $0.process == sender }
      #expect(begun.last?.number == 2, "it has sent more: \(begun)")
    }
  }

  /// What a child process does; nothing in the parent.
  @Test("A child process")
  func child() async throws {
    guard let (role, place) = SharedPlace.child else { return }
    switch role {
    case .sender, .otherSender:
      // Both are there before one begins.
      place.set(role.rawValue)
      let other: ChildRole = role == .sender ? .otherSender : .sender
      try await place.wait(for: other.rawValue)
      try await place.upload { _ in try await _Concurrency.Task.sleep(for: .milliseconds(5)) }
    case .killed:
      try await place.upload(concurrency: 1) { upload in
        guard upload.number == 2 else { return }
        place.set("sending")
        try await place.wait(for: "waiting")
        kill(getpid(), SIGKILL)
      }
    case .suspended:
      // So long that it does not take the lease back while the other process is slow to renew it;
      // a third of it is less than the other's, so that it looks at the lease when it goes on.
      try await place.upload(concurrency: 1, patience: .seconds(27)) { upload in
        if upload.number == 2 { try await place.wait(for: "resumed") }
      }
    }
  }

  @Test("Silos of one process that share a file share the lease like processes")
  func twoSilosOfOneProcess() async throws {
    try await withSharedPlace { place in
      let (first, second) = (place.silos(), place.silos())
      try await place.enqueue(0..<20, in: first)
      let record = place.record
      let sending = Sending()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for silos in [first, second] {
          group.addTask {
            let queue = UploadQueue<RecordedUpload>(in: silos, retry: retry)
            queue.runs.lease.patience = .seconds(30)
            try await queue.run(concurrency: 1, until: .idle) { upload, context in
              #expect(sending.count.withLock(\.self) == 0)
              sending.count.withLock { $0 += 1 }
              record.append("begin", upload, context.key)
              await _Concurrency.Task.yield()
              sending.count.withLock { $0 -= 1 }
            }
          }
        }
        try await group.waitForAll()
      }
      place.expectArrival(of: 20)
      #expect(try await first[StoredLease.self].count() == 0)
    }
  }

  // MARK: Watching

  @Test(
    "Watching ends with an error when another process migrates the values to a newer version",
    arguments: [nil, 3])
  func newerVersion(limit: Int?) async throws {
    try await withTemporaryFile(.file) { file in
      let silos = Silos(in: file.workspace)
      let old = silos[Letter.V1.self]
      try await old.save((0..<40).map { .init(id: $0, title: "\($0)") })
      let errors = ReportedErrors()
      silos.errorHandler = { errors.add($0) }
      let changes = old.changes(limit: limit)
      file.workspace.lookForOtherWriters(every: .milliseconds(1))
      await #expect(processExitsWith: .success) { [path = file.path as String] in
        let workspace = SQLiteWorkspace(filePath: path)
        // In many steps, so that the watcher meets it half done.
        try await Silos(in: workspace)[Letter.self].migrate(step: 2)
        await workspace.shutdown(flags: [])
      }
      for await change in changes {
        Issue.record("\(change.removals.count) values went, \(change.insertions.count) came")
      }
      #expect(
        errors.takeAll().compactMap { $0 as? SiloError }
          == [.newerVersion(table: "letters", stored: 3, known: 1)])
      await #expect(throws: SiloError.self) { try await old.save(.init(id: 50, title: "")) }
      #expect(try await Silos(in: file.workspace)[Letter.self].count() == 40)
    }
  }

  @Test("A watcher of the newest version sees each value that another process migrates once")
  func sameVersion() async throws {
    try await withTemporaryFile(.file) { file in
      try await Silos(in: file.workspace)[Letter.V1.self].save(
        (0..<400).map { .init(id: $0, title: "\($0)") })
      let other = SQLiteWorkspace(filePath: file.path)
      let errors = ReportedErrors()
      other.errorHandler = { errors.add($0) }
      let silos = Silos(in: other)
      let changes = silos[Letter.self].changes(orderBy: [Letter.id.ascending])
      other.lookForOtherWriters(every: .milliseconds(1))
      async let migrated: Void = {
        await #expect(processExitsWith: .success) { [path = file.path as String] in
          let workspace = SQLiteWorkspace(filePath: path)
          let letters = Silos(in: workspace)[Letter.self]
          try await letters.migrate(step: 5)
          try await letters.save(Letter(id: 1000, subject: "last", words: []))
          await workspace.shutdown(flags: [])
        }
      }()
      var mirror: [Letter] = []
      var isFirst = true
      for await change in changes {
        if isFirst { mirror = change.previous }
        isFirst = false
        change.apply(to: &mirror)
        #expect(mirror == change.values)
        #expect(Set(mirror.map(\.id)).count == mirror.count, "a value is there twice")
        if mirror.last?.subject == "last" { break }
      }
      _ = await migrated
      #expect(mirror.map(\.id) == Array(0..<400) + [1000])
      #expect(mirror.dropLast().allSatisfy { $0.words == ["text", "of", "\($0.id)"] })
      #expect(errors.takeAll().isEmpty)
      await other.shutdown(flags: [])
    }
  }
}
