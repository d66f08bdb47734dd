// The benchmark program.
//
//    bench            every case and its floor: a table, results/latest.json, results/latest.svg
//    bench scaling    how cost grows from 10,000 to 1,000,000 objects: a table,
//                     results/scaling.json, results/scaling.svg
//    bench peers      eight tasks beside what a program would use instead of Dflat: a table,
//                     results/peers.json, results/peers.svg
//    bench smoke      every case once on a few objects, with results checked; for CI. Timings are
//                     meaningless and not saved
//    bench profile    Dflat's side only, RUNS times; for use under a profiler
//    bench floor      the floor's side only, likewise
//    bench instructions
//                     counts the instructions of both sides with valgrind, which no other program
//                     changes: a table, and results/latest.json with these figures added
//
// Environment: CASES=id,id selects cases, RUNS=n is the number of runs (7), OUTPUT=folder is the
// output folder. Exit status: 0, 1 if a side failed or the sides disagree, 64 for bad usage. A
// missed goal is reported, but is not a failure.

import Foundation
import SQLiteAccess

@main
struct Bench {
  static func main() {
    do {
      let child = try Child(Array(CommandLine.arguments.dropFirst()))
      // This applies to both sides: the floor uses the same SQLite library.
      if child?.keepsDefaults != true { try SQLiteProcess.configureForThreads() }
      if let child { return try child.run() }
      let options = try Options()
      let fixture = try Fixture(
        few: options.few, many: options.many, walLimit: options.walLimit)
      do {
        try run(options, fixture)
        try fixture.removeFiles()
      } catch {
        try fixture.removeFiles()
        throw error
      }
    } catch let error as UsageError {
      complain("bench: \(error.description)")
      exit(64)
    } catch {
      complain("bench: \(error)")
      exit(1)
    }
  }

  private static func run(_ options: Options, _ fixture: Fixture) throws {
    switch options.mode {
    case .cases: try runCases(options, fixture)
    case .scaling: try Scaling.run(options, fixture)
    case .peers: try Peers.run(options, fixture)
    case .smoke: try runSmoke(options, fixture)
    case .profile: try run({ $0.ours }, options, fixture)
    case .floor: try run({ $0.floor }, options, fixture)
    case .instructions: try runInstructions(options)
    }
  }

  private static func runCases(_ options: Options, _ fixture: Fixture) throws {
    Table.printHead(options)
    var measurements: [Measurement] = []
    for item in Case.all where options.includes(item.id) {
      let measured = try item.measure(fixture, runs: options.runs)
      measured.forEach(Table.printLine)
      measurements += measured
    }
    var memory: [MemoryMeasurement] = []
    for item in MemoryCase.all where options.includes(item.id) {
      if let measurement = try item.measure(fixture, options.runs) {
        Table.printLine(measurement)
        memory.append(measurement)
      } else {
        print("\(item.id): peak memory can be measured on Linux only")
      }
    }
    let results = try Results(options)
    let lines = results.withCounts(measurements.map(JSON.object), of: "latest.json")
    try results.write(JSON.list(lines + memory.map(JSON.object)), to: "latest.json")
    if options.isComplete { try results.write(Chart.svg(measurements), to: "latest.svg") }
    Table.printMissedGoals(measurements, memory)
  }

  /// Whether the sides agree, rows have equal bytes, and results are numbers.
  private static func runSmoke(_ options: Options, _ fixture: Fixture) throws {
    try Smoke.checkRows(fixture)
    for item in Case.all + Scaling.cases(200) where options.includes(item.id) {
      for measurement in try item.measure(fixture, runs: options.runs) {
        guard measurement.ratio.isFinite, measurement.ratio > 0 else {
          throw Disagreement(description: "\(measurement.id): the ratio is \(measurement.ratio)")
        }
        print("\(measurement.id): both sides agree")
      }
    }
    for item in MemoryCase.all where options.includes(item.id) {
      guard let memory = try item.measure(fixture, 1) else { continue }
      guard memory.bytes >= memory.rowBytes else {
        throw Disagreement(
          description: "\(memory.id): \(memory.bytes) bytes are less than the rows")
      }
      print("\(memory.id): holds the rows")
    }
  }

  private static func runInstructions(_ options: Options) throws {
    var counts: [InstructionCount] = []
    Table.printInstructionHead()
    let results = try Results(options)
    for item in Case.all where options.includes(item.id) {
      let count = InstructionCount(item)
      Table.printLine(count)
      counts.append(count)
      // At once: counting all cases takes an hour.
      if count.problem == nil { try results.add(count, to: "latest.json") }
    }
    print("wrote \(results.file("latest.json").relativePath)")
    Table.printMissedGoals(counts)
    let failed = counts.filter(\.hasFailed).map(\.id)
    if !failed.isEmpty {
      throw Disagreement(description: "not counted: \(failed.joined(separator: ", "))")
    }
  }

  private static func run(
    _ side: ((ours: Side, floor: Side)) -> Side, _ options: Options, _ fixture: Fixture
  ) throws {
    for item in Case.all + Scaling.cases(Scaling.sizes[0]) where options.includes(item.id) {
      let chosen = side(try item.sides(fixture))
      for _ in 0..<options.runs {
        print("\(item.id): \(decimals(Double(try chosen().nanoseconds) / 1e6, 2)) ms")
        Counting.write()
      }
    }
  }

  private static func complain(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}

extension Case {
  /// A table that two readers share; the floor has one thread.
  static let fetchUnindexedMillion = Scaling.fetchUnindexed(
    "fetch-unindexed-million", "fetch every sixth of 1,000,000 by an unindexed property", goal: 0.65
  ) { 10 * $0.articles }

  static let all: [Case] = [
    insert, fetchUnindexed, fetchAll, fetchAllRead, fetchByKey, updateBatch, updateStale,
    updateEach, delete, deleteStale,
    equality, fieldAccess, encode, decode, txEachNormal, txEachFull, txLatency, txAwait,
    txAwaitCPU, txSync, txSyncCPU, txWait, txWaitCPU, threadsInsert,
    threadsDelete, fetchUnderWrite, fetchUnderWriteDefaults, snapshotTen, watchResults,
    watchResultsShare, watchObjects,
    watchObjectsShare, watchRanges, watchRangesOrdered, watchBystanders,
    dictionaryDisk, dictionaryReturn, dictionaryHot, dictionaryCold, dictionaryOneKey,
    dictionaryValues, openIndexed, indexedAfterForeignCommit, indexedBesideProcess,
    openAfterUpgrade, indexBuild,
    indexFirstQuery,
    graphqlStore, graphqlPage, bulkUpdateIDs, bulkUpdateWhere, bulkDelete, bulkInsert, missingKeys,
    countIndexed,
    countScan,
    sumScan, groupScan, groupCount, functionScan, projectTwo, projectCovered, keysetPage,
    compoundIndex, prefixIndexed,
    liveCount, fetchUnindexedMillion, uniqued, residentGet, savedResult, includeRelation,
    relationCondition, fullText, searchCount, searchAndField, searchRanked,
    coldStart, coldStartOpened,
    backup, writeBesideBackup, checkFile, fetchAllChecksums,
    memoryInsert, memoryFetchByKey, memoryFetchUnindexed, memorySnapshot,
    siloSave1000, siloLoad1000, siloValues, siloReferrers, siloMemoryGet, siloUpload, siloSave100,
    siloLoad100,
  ]
}
