// What backups, imports and repairs cost: with twice the objects about twice as much.
//
// Each piece of work runs in a process of its own, so that nothing else is counted. On Linux the
// system counts the bytes that it reads and writes, whether they come from the disk or not.

#if os(Linux)
  import DflatTestSupport
  import Foundation
  import Platform
  import SQLiteAccess
  import SQLiteDflat
  import Testing

  @testable import DflatTools

  @Suite("The growth of long work")
  struct GrowthTests {
    enum Work: String, CaseIterable, Codable {
      case copy, wholeBackup, backupOfChanges, restoring, importing, importingTogether, repair
    }

    /// What a process used for a piece of work.
    struct Cost {
      var bytesRead = 0
      var bytesWritten = 0
      var nanoseconds = 0

      /// What this process has used so far.
      static func now() throws -> Cost {
        var cost = Cost()
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        for line in text.split(separator: "\n") {
          let parts = line.split(separator: " ")
          if parts.first == "rchar:" { cost.bytesRead = Int(parts[1]) ?? 0 }
          if parts.first == "wchar:" { cost.bytesWritten = Int(parts[1]) ?? 0 }
        }
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        cost.nanoseconds = time.tv_sec * 1_000_000_000 + time.tv_nsec
        return cost
      }

      init() {}

      /// Reads what ``report(_:)`` has printed.
      init?(_ output: [UInt8]) {
        let text = String(decoding: output, as: UTF8.self)
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("cost ") }) else {
          return nil
        }
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        (bytesRead, bytesWritten, nanoseconds) = (numbers[0], numbers[1], numbers[2])
      }

      /// Prints what was used since `start`.
      static func report(since start: Cost) throws {
        let end = try now()
        print(
          "\ncost \(end.bytesRead - start.bytesRead) \(end.bytesWritten - start.bytesWritten)"
            + " \(end.nanoseconds - start.nanoseconds)")
        fflush(nil)
      }
    }

    @Test(
      "Twice the objects cost about twice as much", .endsSometime, arguments: Work.allCases)
    func growth(work: Work) async throws {
      let small = try await cost(of: work, 4000)
      let large = try await cost(of: work, 8000)
      // Caches hold a part of the smaller file, and some of the cost is the same for both.
      #expect(large.bytesRead < 3 * small.bytesRead + 1 << 20, "\(small) \(large)")
      #expect(large.bytesWritten < 3 * small.bytesWritten + 1 << 20, "\(small) \(large)")
      // Other programs may share the processor's caches.
      #expect(large.nanoseconds < 4 * small.nanoseconds + 20_000_000, "\(small) \(large)")
    }

    private func cost(of work: Work, _ count: Int) async throws -> Cost {
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      try await Self.prepare(work, directory, count)
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) { [work = work as Work, directory = directory as String, count = count as Int] in
        let start = try Cost.now()
        try await Self.run(work, directory, count)
        try Cost.report(since: start)
      }
      return try #require(Cost(result?.standardOutputContent ?? []))
    }

    private static func path(_ directory: String) -> String { directory + "/a.db" }
    private static func folder(_ directory: String) -> String { directory + "/backups" }

    private static func line(_ number: Int) -> String {
      #"{"site":"m","number":\#(number),"tags":["\#(String(repeating: "x", count: 200))"]}"# + "\n"
    }

    private static func prepare(_ work: Work, _ directory: String, _ count: Int) async throws {
      let isImport = work == .importing || work == .importingTogether
      let file = TemporaryFile(path: path(directory))
      // An import replaces the half, and inserts the others.
      for start in stride(from: 0, to: isImport ? count / 2 : count, by: 1000) {
        try file.store(
          (start..<start + 1000).map {
            post(Int32($0), link: String(repeating: "\($0) ", count: 40))
          })
      }
      if work == .backupOfChanges || work == .restoring {
        try await file.dflat.backup(into: folder(directory))
        // Every tenth.
        try await file.dflat.write(Post.self) { txn in
          _ = try txn.update(where: Post.number.in(tenths(count))) {
            $0.likes = 1
          }
        }
      }
      if work == .restoring { try await file.dflat.backup(into: folder(directory)) }
      await file.dflat.shutdown()
    }

    private static func tenths(_ count: Int) -> [Int32] {
      (0..<Int32(count)).filter { $0 % 10 == 0 }
    }

    private static func run(_ work: Work, _ directory: String, _ count: Int) async throws {
      let (path, new) = (path(directory), directory + "/new.db")
      switch work {
      case .copy, .wholeBackup, .backupOfChanges:
        let dflat = SQLiteWorkspace(filePath: path)
        if work == .copy {
          try await dflat.backup(to: new)
        } else {
          let backup = try await dflat.backup(into: folder(directory))
          precondition((backup.kind == .changes) == (work == .backupOfChanges))
        }
        await dflat.shutdown()
      case .restoring: try BackupFolder(folder(directory)).restore(to: new)
      case .importing, .importingTogether:
        var job = try Import(into: path, type: "Post")
        job.isOneTransaction = work == .importingTogether
        let text = (0..<count).map { line($0).replacing(#""m""#, with: #""s""#) }.joined()
        let report = try job.run(reading: portions(of: Data(text.utf8), 1 << 16))
        precondition(report.objects == count && report.updated == count / 2, "\(report)")
      case .repair:
        let report = try Repair.runAndWait(from: path, to: new)
        precondition(report.isComplete)
      }
    }

    @Test("A backup of changes writes little more than the pages that have changed", .endsSometime)
    func changedBytes() async throws {
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      try await Self.prepare(.backupOfChanges, directory, 8000)
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) { [directory = directory as String] in
        let dflat = SQLiteWorkspace(filePath: Self.path(directory))
        _ = try dflat.query(Post.self).count()
        let start = try Cost.now()
        try await dflat.backup(into: Self.folder(directory))
        try Cost.report(since: start)
        await dflat.shutdown()
      }
      let cost = try #require(Cost(result?.standardOutputContent ?? []))
      let backups = try BackupFolder(Self.folder(directory)).backups()
      #expect(backups.map(\.kind) == [.whole, .changes])
      let now = directory + "/now.db"
      try BackupFolder(Self.folder(directory)).restore(to: now)
      let pages = try changedPages(backups[0].path, now)
      #expect(pages > 100)
      #expect(cost.bytesWritten <= pages * 4096 * 3 / 2, "\(cost), \(pages) pages")
      #expect(cost.bytesWritten >= pages * 4096)
    }

    /// How many pages of two files differ, by comparing bytes.
    private func changedPages(_ old: String, _ new: String) throws -> Int {
      let old = try Data(contentsOf: URL(filePath: old))
      let new = try Data(contentsOf: URL(filePath: new))
      return stride(from: 0, to: new.count, by: 4096).count { start in
        start >= old.count || old[start..<start + 4096] != new[start..<start + 4096]
      }
    }
  }
#endif
