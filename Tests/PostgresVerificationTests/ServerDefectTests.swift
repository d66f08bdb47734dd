// The checker finds an engine that is wrong: with the sound one every workload passes, also when
// commits and their answers are lost, and each known way to be wrong is detected.

import DflatTestSupport
import DflatVerification
import PostgresTestSupport
import PostgresVerification
import Testing

@Suite("Broken engines over a server", .serialized)
struct ServerDefectTests {
  /// A run of a workload in four workspaces, which reach the server through a proxy.
  private func run(
    _ name: String, _ defect: ServerDefect?, seed: UInt64, commitsPerLoss: Int? = nil,
    steps: Int = 30
  ) throws -> (violations: [Violation], lostCommits: Int) {
    let workload = try #require(allWorkloads(spaces: cellTypes.count).first { $0.name == name })
    let server = try BrokenServer(defect, seed: seed, commitsPerLoss: commitsPerLoss)
    defer { server.close() }
    var place = ServerPlace(url: server.url)
    if name != "families", seed % 2 == 0 { place.spacesInDictionary = [2] }
    var run = HistoryRun(workload, seed: seed)
    run.clientsPerStore = 3
    run.stepsPerClient = steps
    let stores = try (0..<4).map { _ in try place.open() }
    let (_, violations) = run.check(on: stores)
    for store in stores { store.close() }
    place.url = try TestCluster.shared().url
    _ = try place.remove()
    return (violations, server.lostCommits)
  }

  @Test(
    "A sound engine has no violation, whatever answers are lost",
    arguments: allWorkloads(spaces: cellTypes.count).map(\.name))
  func sound(_ name: String) throws {
    let seed = testSeed()
    for round in 0..<(isLongRun ? 20 : 1) as Range<UInt64> {
      let (violations, lost) = try run(
        name, nil, seed: seed &+ round, commitsPerLoss: 10, steps: isLongRun ? 30 : 15)
      #expect(violations.isEmpty, "DFLAT_SEED=\(seed): \(violations.prefix(3))")
      #expect(lost > 0)
    }
  }

  /// A defect, the workload that must detect it, and the possible kinds of violation, which depend
  /// on timing.
  struct Expectation: Sendable, CustomTestStringConvertible {
    let defect: ServerDefect
    let workload: String
    let kinds: Set<Violation.Kind>
    var testDescription: String { "\(defect) by \(workload)" }
  }

  static let expectations = [
    Expectation(
      defect: .readCommitted, workload: "bank", kinds: [.lostUpdate, .invariant, .cycle]),
    Expectation(
      defect: .readCommitted, workload: "list-append", kinds: [.cycle, .incompatibleReads]),
    // Write skew, which single keys do not show.
    Expectation(defect: .repeatableRead, workload: "list-append", kinds: [.cycle]),
    Expectation(defect: .repeatableRead, workload: "register", kinds: [.cycle]),
    Expectation(defect: .guessesCommitted, workload: "list-append", kinds: [.lostWrite]),
    Expectation(
      defect: .guessesLost, workload: "list-append", kinds: [.incompatibleReads, .unwrittenRead]),
    Expectation(defect: .neverRunsAgain, workload: "bank", kinds: [.unexpectedError]),
  ]

  @Test("Each defect is detected", arguments: expectations)
  func caught(_ expectation: Expectation) throws {
    let seed = testSeed()
    let isGuess = [.guessesCommitted, .guessesLost].contains(expectation.defect)
    var found: Set<Violation.Kind> = []
    // Timing cannot be controlled, so the run is repeated until the defect shows.
    for round in 0..<50 as Range<UInt64> {
      let (violations, _) = try run(
        expectation.workload, expectation.defect, seed: seed &+ round,
        commitsPerLoss: isGuess ? 10 : nil)
      found.formUnion(violations.map(\.kind))
      if !expectation.kinds.isDisjoint(with: found) { return }
    }
    Issue.record("DFLAT_SEED=\(seed): \(expectation.kinds) expected, \(found) found")
  }

  @Test("Every defect has an expectation")
  func complete() {
    #expect(Set(Self.expectations.map(\.defect)) == Set(ServerDefect.allCases))
  }
}
