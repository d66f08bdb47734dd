// The engines that every engine-neutral test runs on.

import DflatTestSupport
import PostgresTestSupport

extension TestEngine {
  /// All engines, including one with restricted capabilities, and one whose write transactions are
  /// bound to a thread.
  static let all = withServers(embedded + [.boundMemory])

  /// Those where a closure that has read may wait for the completion of an earlier transaction.
  static let withOwnCommits = all.filter {
    $0.testDescription != postgresSharingCommits.testDescription
  }

  /// Some engines, and all of them in long runs: for tests that cost much, of what Dflat does alike
  /// over all engines, or these do in a way of their own.
  static func some(_ engines: [TestEngine]) -> [TestEngine] {
    let names = engines.map(\.testDescription)
    return isLongRun ? all : all.filter { names.contains($0.testDescription) }
  }

  /// All engines. Those whose indexes other programs can change appear once for each state of the
  /// indexes.
  static let inEveryIndexState = withServers(embeddedInEveryIndexState)
}
