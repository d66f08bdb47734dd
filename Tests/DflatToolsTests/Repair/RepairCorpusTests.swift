// Damaged files by seed, judged against all that was ever stored.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import DflatTools

@Suite("Damaged files")
struct RepairCorpusTests {
  /// What became of the posts of some files.
  struct Score {
    var files = 0
    /// Posts that were there in the end.
    var rows = 0
    /// Those of them that are among the good ones, as they were in the end.
    var saved = 0
    /// Posts of which no page was touched, and those of them that were saved.
    var untouched = 0
    var untouchedSaved = 0
    /// Good ones that are an older version.
    var older = 0
    /// Good ones that were deleted.
    var deleted = 0
    /// Good ones with some flipped bits inside of values.
    var flipped = 0
    /// Good ones that were never stored.
    var wrong = 0
    var doubtful = 0
    var lost = 0
    /// Posts that the `.recover` of sqlite3 saves; nil if it was not asked.
    var recovered: Int?
    var recoveredWrong = 0
  }

  @Test("What damage did not touch is saved, and nothing that was never stored")
  func corpus() throws {
    let samples = try [false, true].map { hasLog in
      try SampleFile(count: isLongRun ? 1500 : 900, hasLog: hasLog)
    }
    let pages = samples.map { SamplePages($0) }
    let judge = ProcessInfo.processInfo.environment["DFLAT_RECOVER"]
    var scores: [DamageKind: Score] = [:]
    let seed = try withSeed { random in
      let rounds = isLongRun ? 64 : 4
      for round in 0..<rounds {
        for kind in DamageKind.allCases {
          let hasLog = kind.isOfLog || round.isMultiple(of: 2)
          let number = hasLog ? 1 : 0
          let damaged = DamagedFile(samples[number], pages[number], kind, &random)
          try repair(damaged, samples[number], kind, judge, &scores[kind, default: Score()])
        }
      }
      return random.seed
    }
    for kind in DamageKind.allCases {
      guard let score = scores[kind] else { continue }
      if isLongRun || judge != nil { print(Self.line(kind, score)) }
      #expect(
        score.untouchedSaved * 100 >= score.untouched * 99,
        "DFLAT_SEED=\(seed), \(kind): \(score.untouchedSaved) of \(score.untouched)")
      #expect(score.wrong == 0, "DFLAT_SEED=\(seed), \(kind)")
      // Without its end the log does not say what was deleted.
      if !kind.isOfLog { #expect(score.deleted == 0, "DFLAT_SEED=\(seed), \(kind)") }
    }
  }

  @Test("With checksums no object comes back with a changed bit")
  func changedBits() throws {
    let samples = try [false, true].map { hasLog in
      try SampleFile(count: 300, hasLog: hasLog, hasChecksums: true)
    }
    #expect(samples.allSatisfy { $0.posts.values.allSatisfy { $0.count % 4 == 1 } })
    let pages = samples.map { SamplePages($0) }
    try withSeed { random in
      var score = Score()
      for round in 0..<(isLongRun ? 400 : 20) {
        let damaged = DamagedFile(samples[round % 2], pages[round % 2], .bitFlips, &random)
        try repair(damaged, samples[round % 2], .bitFlips, nil, &score)
      }
      if isLongRun { print(Self.line(.bitFlips, score)) }
      #expect(score.flipped == 0 && score.wrong == 0, "DFLAT_SEED=\(random.seed)")
      // How many rows the flips touch is chance.
      #expect(
        score.untouched > 0 && score.untouchedSaved * 100 >= score.untouched * 99,
        "DFLAT_SEED=\(random.seed): \(score)")
    }
  }

  /// Whether bytes are the same but for a few bits.
  private static func differInBits(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && zip(first, second).count { $0 != $1 } <= 4 + first.count / 1000
  }

  private static func line(_ kind: DamageKind, _ score: Score) -> String {
    func percent(_ part: Int, _ whole: Int) -> String {
      String(format: "%.2f", whole == 0 ? 100 : Double(part) * 100 / Double(whole))
    }
    let judged = score.recovered.map {
      ", .recover \(percent($0, score.rows)) wrong \(score.recoveredWrong)"
    }
    return
      "\(kind): \(score.files) files, \(score.rows) rows: saved \(percent(score.saved, score.rows)), "
      + "of untouched \(percent(score.untouchedSaved, score.untouched)), older \(score.older), "
      + "deleted \(score.deleted), flipped \(score.flipped), wrong \(score.wrong), doubtful \(score.doubtful), "
      + "lost \(score.lost)\(judged ?? "")"
  }

  private func repair(
    _ damaged: DamagedFile, _ sample: SampleFile, _ kind: DamageKind, _ judge: String?,
    _ score: inout Score
  ) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, saved) = ("\(directory)/broken.db", "\(directory)/saved.db")
    try damaged.write(to: broken)
    let report = try Repair.runAndWait(from: broken, to: saved)
    score.files += 1
    score.rows += sample.posts.count
    let found = try posts(in: saved, SampleFile.table)
    for (number, bytes) in found {
      if sample.posts[number] == bytes {
        score.saved += 1
      } else if sample.history[number]?.contains(bytes) != true {
        let isFlip = sample.history[number]?.contains { Self.differInBits($0, bytes) } ?? false
        if kind.mayChangeValues, isFlip {
          score.flipped += 1
        } else {
          score.wrong += 1
          let sizes = sample.history[number, default: []].map(\.count)
          Issue.record("\(kind): post \(number) has \(bytes.count) bytes, was \(sizes)")
        }
      } else if sample.posts[number] == nil {
        score.deleted += 1
      } else {
        score.older += 1
      }
    }
    for (number, bytes) in sample.posts where !damaged.hasTouched(post: number) {
      score.untouched += 1
      if found[number] == bytes { score.untouchedSaved += 1 }
    }
    for table in report.tables where table.table == SampleFile.table {
      score.doubtful += table.doubtful
      score.lost += table.lost
    }
    if !kind.mayChangeValues {
      let strangers = try strangers(in: saved)
      #expect(strangers.isEmpty, "\(kind): \(strangers)")
    }
    let data = try DataFile.open(saved)
    defer { data.close() }
    let findings = try data.check().findings.filter { $0.severity != .note }
    #expect(findings.isEmpty, "\(kind): \(findings)")
    if let judge { try ask(judge, broken, directory, sample, &score) }
  }

  /// The posts of a file by their numbers.
  private func posts(in path: String, _ table: String) throws -> [Int: [UInt8]] {
    let connection = try Connection(path: path)
    defer { try? connection.close() }
    let exists = try connection.value(
      "SELECT 1 FROM sqlite_master WHERE name = ?", [.text(table)])
    if exists == nil { return [:] }
    var found: [Int: [UInt8]] = [:]
    for row in try connection.rows("SELECT __pk1, p FROM \(table)") {
      if let number = row[0].integer, let bytes = row[1].blob { found[Int(number)] = bytes }
    }
    return found
  }

  /// The row ids and names of rows of plain tables that were never stored there.
  private func strangers(in path: String) throws -> [[SQLValue]] {
    let connection = try Connection(path: path)
    defer { try? connection.close() }
    let conditions = [
      (
        "city", "name",
        "name = 'city ' || id AND height = id * 25 AND hex(data) = "
          + "replace(hex(zeroblob(id * 20)), '00', printf('%02X', id))"
      ),
      ("pair", "a", "a GLOB 'a*' AND b = CAST(substr(a, 2) AS INTEGER) % 5 AND c IS NULL"),
    ]
    return try conditions.flatMap { table, column, condition -> [[SQLValue]] in
      // A damaged statement gives other columns.
      let isThere = try connection.value(
        "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", [.text(table), .text(column)])
      guard isThere != nil else { return [] }
      return try connection.rows("SELECT \(column) FROM \(table) WHERE (\(condition)) IS NOT TRUE")
    }
  }

  /// What the `.recover` of another program saves, also without knowing the table.
  private func ask(
    _ judge: String, _ broken: String, _ directory: String, _ sample: SampleFile,
    _ score: inout Score
  ) throws {
    let target = "\(directory)/judge.db"
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      "timeout 60 \(judge) \(broken) .recover 2>/dev/null | timeout 60 \(judge) \(target) >/dev/null 2>&1",
    ]
    try process.run()
    process.waitUntilExit()
    let connection = try Connection(path: target)
    defer { try? connection.close() }
    var found: Set<Int> = []
    func count(_ number: Int64?, _ bytes: [UInt8]?) {
      guard let number, let bytes else { return }
      if sample.posts[Int(number)] == bytes {
        found.insert(Int(number))
      } else if sample.history[Int(number)]?.contains(bytes) != true {
        score.recoveredWrong += 1
      }
    }
    let tables = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table'"
    ).compactMap { $0[0].text }
    if tables.contains(SampleFile.table) {
      for row in try connection.rows("SELECT __pk1, p FROM \(SampleFile.table)") {
        count(row[0].integer, row[1].blob)
      }
    }
    for table in tables where table.hasPrefix("lost_and_found") {
      let columns = try connection.rows(
        "SELECT name FROM pragma_table_info(?)", [.text(table)]
      ).compactMap { $0[0].text }
      guard columns.contains("c3") else { continue }
      for row in try connection.rows("SELECT c2, c3 FROM \(table) WHERE typeof(c3) = 'blob'") {
        count(row[0].integer, row[1].blob)
      }
    }
    score.recovered = (score.recovered ?? 0) + found.count
  }
}
