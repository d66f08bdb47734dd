// The checker finds defects: a sound store passes every workload, and each known way to break a
// scheduler is detected.

import DflatTestSupport
import DflatVerification
import Testing

@Suite("Broken schedulers")
struct SchedulerFaultTests {
  private let spaces = 3

  private func run(
    _ workload: any Workload, _ fault: SchedulerFault?, seed: UInt64
  ) -> [Violation] {
    var run = HistoryRun(workload, seed: seed)
    run.clientsPerStore = 4
    run.stepsPerClient = 150
    run.patience = 2
    return run.check(on: [ModelStore(spaces: spaces, fault: fault)]).1
  }

  @Test("A sound store has no violation in any workload")
  func sound() {
    let seed = testSeed()
    for workload in allWorkloads(spaces: spaces) {
      for round in 0..<(isLongRun ? 50 : 3) {
        let violations = run(workload, nil, seed: seed &+ UInt64(round))
        #expect(violations.isEmpty, "DFLAT_SEED=\(seed), \(workload.name): \(violations)")
      }
    }
  }

  /// A fault, the workload that must detect it, and the possible kinds of violation, which depend
  /// on thread timing.
  struct Expectation: Sendable, CustomTestStringConvertible {
    let fault: SchedulerFault
    let workload: String
    let kinds: Set<Violation.Kind>
    var testDescription: String { "\(fault) by \(workload)" }
  }

  static let expectations = [
    Expectation(fault: .tornTickets, workload: "list-append", kinds: [.completion]),
    Expectation(fault: .oneLineOnly, workload: "list-append", kinds: [.callOrder]),
    Expectation(fault: .oneLineOnly, workload: "register", kinds: [.callOrder, .lostUpdate]),
    Expectation(fault: .oneLineOnly, workload: "cycle", kinds: [.callOrder, .invariant]),
    Expectation(fault: .staleGroupReads, workload: "list-append", kinds: [.lostWrite]),
    Expectation(fault: .staleGroupReads, workload: "register", kinds: [.lostUpdate]),
    Expectation(fault: .staleGroupReads, workload: "bank", kinds: [.lostUpdate, .invariant]),
    Expectation(fault: .staleGroupReads, workload: "cycle", kinds: [.lostUpdate, .invariant]),
    Expectation(fault: .anyOrder, workload: "list-append", kinds: [.callOrder]),
    Expectation(fault: .earlyCompletions, workload: "list-append", kinds: [.cycle]),
    Expectation(fault: .earlyCompletions, workload: "register", kinds: [.cycle]),
    Expectation(fault: .staleSnapshots, workload: "list-append", kinds: [.cycle]),
    Expectation(fault: .staleSnapshots, workload: "long-fork", kinds: [.cycle]),
    Expectation(fault: .tornSnapshots, workload: "list-append", kinds: [.cycle]),
    Expectation(fault: .tornSnapshots, workload: "bank", kinds: [.invariant]),
    Expectation(fault: .tornSnapshots, workload: "cycle", kinds: [.invariant]),
    Expectation(fault: .tornSnapshots, workload: "long-fork", kinds: [.longFork]),
    Expectation(fault: .staleLookUps, workload: "register", kinds: [.cycle]),
    Expectation(fault: .keptAborts, workload: "list-append", kinds: [.abortedRead]),
    Expectation(fault: .keptAborts, workload: "register", kinds: [.abortedRead]),
    Expectation(fault: .tornSnapshots, workload: "families", kinds: [.invariant]),
  ]

  @Test("Each fault is detected", arguments: expectations)
  func caught(_ expectation: Expectation) throws {
    let workload = try #require(
      allWorkloads(spaces: spaces).first { $0.name == expectation.workload })
    let seed = testSeed()
    var found: Set<Violation.Kind> = []
    // Thread timing cannot be controlled, so the run is repeated until the fault shows.
    for round in 0..<100 {
      found.formUnion(run(workload, expectation.fault, seed: seed &+ UInt64(round)).map(\.kind))
      if !expectation.kinds.isDisjoint(with: found) { return }
    }
    Issue.record("DFLAT_SEED=\(seed): \(expectation.kinds) expected, \(found) found")
  }

  @Test("Every fault has an expectation")
  func complete() {
    #expect(Set(Self.expectations.map(\.fault)) == Set(SchedulerFault.allCases))
  }
}
