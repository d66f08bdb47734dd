// The benchmark program for Empire.
//
//    bench-empire            every case and its floor: a table, and results/empire.json
//    bench-empire smoke      every case once on a few records, with results checked; for CI
//    bench-empire profile    Empire's side only, RUNS times; for use under a profiler
//    bench-empire floor      the floor's side only, likewise
//
// Environment: CASES=id,id selects cases, RUNS=n is the number of runs (7), OUTPUT=folder is the
// output folder. Exit status: 0, 1 if a side failed or the sides disagree, 64 for bad usage. A
// missed goal is reported, but is not a failure.

import Foundation

@main
struct BenchEmpire {
  static let cases: [Case] = [
    .insert, .getEach, .get, .range, .rangeOfMany, .scan, .delete, .durable, .grow,
  ]

  static func main() {
    do { try run() } catch {
      FileHandle.standardError.write(Data("bench-empire: \(error)\n".utf8))
      exit(error is Usage ? 64 : 1)
    }
  }

  struct Usage: Error, CustomStringConvertible {
    let description: String
  }

  private static func run() throws {
    let environment = ProcessInfo.processInfo.environment
    let mode = CommandLine.arguments.dropFirst().first ?? "cases"
    guard ["cases", "smoke", "profile", "floor"].contains(mode) else {
      throw Usage(description: "usage: bench-empire [cases | smoke | profile | floor]")
    }
    let chosen = environment["CASES"]?.split(separator: ",").map { String($0) } ?? []
    if let unknown = chosen.first(where: { id in !cases.contains { $0.id == id } }) {
      throw Usage(
        description:
          "there is no case '\(unknown)'; there are \(cases.map(\.id).joined(separator: ", "))")
    }
    guard let runs = Int(environment["RUNS"] ?? (mode == "smoke" ? "1" : "7")), runs > 0 else {
      throw Usage(description: "RUNS is not a number of runs")
    }
    let smoke = mode == "smoke"
    let fixture = try Fixture(few: smoke ? 300 : 10_000, many: smoke ? 2_000 : 1_000_000)
    defer { try? fixture.removeFiles() }
    var measurements: [Measurement] = []
    if mode == "cases" { Table.printColumns(ours: "Empire ms") }
    for item in cases where chosen.isEmpty || chosen.contains(item.id) {
      if mode == "profile" || mode == "floor" {
        let sides = try item.sides(fixture)
        let side = mode == "floor" ? sides.floor : sides.ours
        for _ in 0..<runs {
          print("\(item.id): \(decimals(Double(try side().nanoseconds) / 1e6, 2)) ms")
        }
        continue
      }
      for measurement in try item.measure(fixture, runs: runs) {
        if smoke {
          print("\(measurement.id): both sides agree")
        } else {
          Table.printLine(measurement)
        }
        measurements.append(measurement)
      }
    }
    guard mode == "cases" else { return }
    let missed = measurements.filter(\.missesGoal).map(\.id)
    print(missed.isEmpty ? "Every goal is met." : "Goals missed: \(missed.joined(separator: ", "))")
    let folder =
      environment["OUTPUT"]
      ?? (FileManager.default.fileExists(atPath: "Benchmarks/results")
        ? "Benchmarks/results" : "results")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(JSON.list(measurements.map(JSON.object)).utf8)
      .write(to: URL(fileURLWithPath: folder).appending(path: "empire.json"))
  }
}
