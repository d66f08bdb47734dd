// The benchmark program.
//
//   bench            every case beside its floor: a table, results/latest.json, results/latest.svg
//   bench scaling    how cost grows from 10,000 to 1,000,000 objects: a table, results/scaling.json, results/scaling.svg
//   bench smoke      every case once on few objects, results checked; for CI. Figures mean nothing and are not kept.
//
// Environment: CASES=id,id restricts the cases, RUNS=n is the number of runs (7), OUTPUT=folder where results go.
// Exit status: 0, 1 if a side failed or sides disagree, 64 for bad usage. A missed goal is named and is no failure.

import Foundation

@main
struct Bench {
  static func main() {
    do {
      let options = try Options()
      let fixture = try Fixture(few: options.few, many: options.many)
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
    case .smoke: try runSmoke(options, fixture)
    }
  }

  private static func runCases(_ options: Options, _ fixture: Fixture) throws {
    let cases = try options.cases(of: Case.all)
    Table.printHead(options, fixture)
    var measurements: [Measurement] = []
    for item in cases {
      let measurement = try item.measure(fixture, runs: options.runs)
      Table.printLine(measurement)
      measurements.append(measurement)
    }
    let results = try Results(options)
    try results.write(JSON.text(measurements), to: "latest.json")
    Table.printMissedGoals(measurements)
  }

  /// Sides that agree, and figures that are numbers.
  private static func runSmoke(_ options: Options, _ fixture: Fixture) throws {
    for item in try options.cases(of: Case.all) {
      let measurement = try item.measure(fixture, runs: options.runs)
      guard measurement.ratio.isFinite, measurement.ratio > 0 else {
        throw Disagreement(description: "\(item.id): the ratio is \(measurement.ratio)")
      }
      print("\(item.id): both sides agree")
    }
  }

  private static func complain(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}

extension Case {
  static let all: [Case] = [
    insert, fetchUnindexed, fetchAll, fetchAllRead, fetchByKey, updateBatch, updateEach, delete,
    equality, fieldAccess, encode, decode,
  ]
}
