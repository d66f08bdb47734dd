// What the program was asked to do: its argument and its environment.

import Foundation

struct UsageError: Error, CustomStringConvertible {
  let description: String
}

struct Options {
  enum Mode: String, CaseIterable {
    case cases
    case smoke
  }

  let mode: Mode
  let runs: Int
  let output: String?
  private let chosen: [String]

  init() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let environment = ProcessInfo.processInfo.environment
    guard arguments.count <= 1, let mode = Mode(rawValue: arguments.first ?? "cases") else {
      let modes = Mode.allCases.map(\.rawValue).joined(separator: " | ")
      throw UsageError(description: "usage: bench [\(modes)]")
    }
    self.mode = mode
    let runs = environment["RUNS"] ?? (mode == .smoke ? "1" : "7")
    guard let count = Int(runs), count > 0 else {
      throw UsageError(description: "RUNS=\(runs) is not a number of runs")
    }
    self.runs = count
    output = environment["OUTPUT"]
    chosen = environment["CASES"]?.split(separator: ",").map { String($0) } ?? []
  }

  var few: Int { mode == .smoke ? 300 : 10_000 }
  var many: Int { mode == .smoke ? 1_000 : 33_334 }

  /// The cases that `CASES` names, or all.
  func cases(of all: [Case]) throws -> [Case] {
    if chosen.isEmpty { return all }
    return try chosen.map { id in
      guard let found = all.first(where: { $0.id == id }) else {
        let ids = all.map(\.id).joined(separator: ", ")
        throw UsageError(description: "there is no case '\(id)'; there are \(ids)")
      }
      return found
    }
  }
}
