// A benchmark program for one library: its arguments, its environment, and the runs of its cases.
//
//    NAME            every case and its floor: a table, and a file of results
//    NAME smoke      every case once on few objects, with results checked; for CI
//    NAME profile    the library's side only, RUNS times; for use under a profiler
//    NAME floor      the floor's side only, likewise
//
// Environment: CASES=id,id selects cases, RUNS=n is the number of runs (7), OUTPUT=folder is the
// output folder. Exit status: 0, 1 if a side failed or the sides disagree, 64 for bad usage. A
// missed goal is reported, but is not a failure.

import Foundation

struct ProgramCases {
  /// The program's name.
  let name: String
  /// The heading of the library's times.
  let column: String
  /// The file of the results.
  let output: String
  let cases: [Case]

  private struct Usage: Error, CustomStringConvertible {
    let description: String
  }

  /// Runs the program to its end.
  /// - Parameter withFixture: Calls its second argument with what the cases share. The first one
  ///   tells whether it is made for few objects.
  func run(_ withFixture: (Bool, (Fixture) throws -> Void) throws -> Void) {
    do { try runCases(withFixture) } catch { Self.fail(name, error) }
  }

  /// Prints an error and ends the process.
  static func fail(_ name: String, _ error: any Error) -> Never {
    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
    exit(error is Usage ? 64 : 1)
  }

  private func runCases(_ withFixture: (Bool, (Fixture) throws -> Void) throws -> Void) throws {
    let environment = ProcessInfo.processInfo.environment
    let mode = CommandLine.arguments.dropFirst().first ?? "cases"
    guard ["cases", "smoke", "profile", "floor"].contains(mode) else {
      throw Usage(description: "usage: \(name) [cases | smoke | profile | floor]")
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
    let selected = cases.filter { chosen.isEmpty || chosen.contains($0.id) }
    try withFixture(mode == "smoke") { fixture in
      switch mode {
      case "profile", "floor":
        for item in selected {
          let sides = try item.sides(fixture)
          let side = mode == "floor" ? sides.floor : sides.ours
          for _ in 0..<runs {
            print("\(item.id): \(decimals(Double(try side().nanoseconds) / 1e6, 2)) ms")
          }
        }
      case "smoke":
        for item in selected {
          for measurement in try item.measure(fixture, runs: runs) {
            print("\(measurement.id): both sides agree")
          }
        }
      default: try measure(selected, fixture, runs, environment["OUTPUT"])
      }
    }
  }

  private func measure(
    _ cases: [Case], _ fixture: Fixture, _ runs: Int, _ folder: String?
  ) throws {
    var measurements: [Measurement] = []
    Table.printColumns(ours: column)
    for item in cases {
      let measured = try item.measure(fixture, runs: runs)
      measured.forEach(Table.printLine)
      measurements += measured
    }
    let missed = measurements.filter(\.missesGoal).map(\.id)
    print(missed.isEmpty ? "Every goal is met." : "Goals missed: \(missed.joined(separator: ", "))")
    let folder =
      folder
      ?? (FileManager.default.fileExists(atPath: "Benchmarks/results")
        ? "Benchmarks/results" : "results")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(JSON.list(measurements.map(JSON.object)).utf8)
      .write(to: URL(fileURLWithPath: folder).appending(path: output))
  }
}
