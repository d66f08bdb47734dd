// Histories of workspaces: one, several, and several processes on one file. `make verify` runs the
// same for longer.

import DflatTestSupport
import DflatVerification
import Foundation
import Testing

@Suite("Histories of workspaces")
struct WorkspaceHistoryTests {
  static let names = allWorkloads(spaces: cellTypes.count).map(\.name)

  private func check(
    _ name: String, workspaces: Int, processes: Int, inSilos: Bool = false
  ) throws {
    let workload = try #require(allWorkloads(spaces: cellTypes.count).first { $0.name == name })
    let seed = testSeed()
    try withTemporaryDirectory { directory in
      var shared = SharedRun(HistoryRun(workload, seed: seed))
      shared.workspaces = workspaces
      shared.processes = processes
      shared.worker = verifyCommand
      shared.run.stepsPerClient =
        isLongRun ? 3000 : inSilos || workspaces + processes > 1 ? 60 : 120
      let (count, violations) =
        try inSilos ? shared.checkSilos(in: directory) : shared.check(in: directory)
      #expect(count > 150)
      for violation in violations.prefix(3) {
        Issue.record("DFLAT_SEED=\(seed): \(violation)")
      }
    }
  }

  @Test("One workspace: an order explains everything and agrees with the calls", arguments: names)
  func one(_ name: String) throws { try check(name, workspaces: 1, processes: 0) }

  @Test("An in-memory workspace: the same", arguments: names)
  func inMemory(_ name: String) throws {
    let workload = try #require(allWorkloads(spaces: cellTypes.count).first { $0.name == name })
    var run = HistoryRun(workload, seed: testSeed())
    run.stepsPerClient = isLongRun ? 3000 : 200
    let (count, violations) = run.checkInMemory()
    #expect(count > 150 && violations.isEmpty, "seed \(run.seed): \(violations.prefix(3))")
  }

  @Test("Silos, some of them cached: the same", arguments: names)
  func silos(_ name: String) throws {
    let workload = try #require(allWorkloads(spaces: cellTypes.count).first { $0.name == name })
    var run = HistoryRun(workload, seed: testSeed())
    run.stepsPerClient = isLongRun ? 3000 : 200
    let (count, violations) = run.checkSilos()
    #expect(count > 150 && violations.isEmpty, "seed \(run.seed): \(violations.prefix(3))")
  }

  @Test(
    "Silos in a file: in one workspace, in several, and in several processes",
    arguments: sizes)
  func silosInFile(_ name: String, _ workspaces: Int, _ processes: Int) throws {
    try check(name, workspaces: workspaces, processes: processes, inSilos: true)
  }

  /// Each workload in one of them; in long runs in all.
  private static let sizes: [(String, Int, Int)] = names.enumerated().flatMap { index, name in
    let all = [(1, 0), (2, 0), (1, 1)]
    return (isLongRun ? all : [all[index % 3]]).map { (name, $0, $1) }
  }

  @Test("Several workspaces on one file: an order explains everything", arguments: names)
  func several(_ name: String) throws { try check(name, workspaces: 3, processes: 0) }

  @Test("Several processes on one file: an order explains everything", arguments: names)
  func processes(_ name: String) throws { try check(name, workspaces: 1, processes: 2) }
}
