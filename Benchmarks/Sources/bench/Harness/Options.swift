// The options of the program, from its argument and its environment.

import Foundation

struct UsageError: Error, CustomStringConvertible {
  let description: String
}

struct Options {
  enum Mode: String, CaseIterable {
    case cases
    case scaling
    case peers
    case smoke
    case profile
    case floor
    case instructions
  }

  let mode: Mode
  let runs: Int
  let output: String?
  private let chosen: [String]

  init() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let environment = ProcessInfo.processInfo.environment
    guard let mode = Mode(rawValue: arguments.first ?? "cases"),
      arguments.count <= 1
    else {
      throw UsageError(
        description:
          "usage: bench [cases | scaling | peers | smoke | profile | floor | instructions]")
    }
    self.mode = mode
    let runs = environment["RUNS"] ?? (mode == .smoke ? "1" : "7")
    guard let count = Int(runs), count > 0 else {
      throw UsageError(description: "RUNS=\(runs) is not a number of runs")
    }
    self.runs = count
    output = environment["OUTPUT"]
    chosen = environment["CASES"]?.split(separator: ",").map { String($0) } ?? []
    let ids = (Case.all + Scaling.cases(0)).map(\.id) + MemoryCase.all.map(\.id)
    if let unknown = chosen.first(where: { !ids.contains($0) }) {
      throw UsageError(
        description: "there is no case '\(unknown)'; there are \(ids.joined(separator: ", "))")
    }
    guard !Scaling.sizes.isEmpty, Scaling.sizes.allSatisfy({ $0 > 0 }) else {
      throw UsageError(description: "SIZES is not a list of numbers of objects")
    }
  }

  var few: Int { mode == .smoke ? 300 : 10_000 }
  var many: Int { mode == .smoke ? 1_000 : 33_334 }
  /// Size of the WAL in bytes at which a checkpoint is due: the library's default, or small enough
  /// that the few objects of a smoke run reach it.
  var walLimit: Int { mode == .smoke ? 8 * 4120 : Store.defaultWALLimit }

  /// Whether all cases run.
  var isComplete: Bool { chosen.isEmpty }

  func includes(_ id: String) -> Bool { chosen.isEmpty || chosen.contains(id) }
}
