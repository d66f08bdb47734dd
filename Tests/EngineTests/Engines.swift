// The engines that every engine-neutral test runs on. To add an engine, add it here.
//
// `DFLAT_ENGINE=PostgreSQL` in the environment leaves out all but the engines with this name. The
// server with shared commits is tested if it is named, and in long runs.

import DflatTestSupport
import Foundation
import PostgresTestSupport

extension TestEngine {
  /// All engines, including one with restricted capabilities.
  static let all = wanted(embedded + [.postgres])

  /// All engines. Those whose indexes other programs can change appear once for each state of the
  /// indexes.
  static let inEveryIndexState = wanted(embeddedInEveryIndexState + [.postgres])

  private static func wanted(_ engines: [TestEngine]) -> [TestEngine] {
    guard let name = ProcessInfo.processInfo.environment["DFLAT_ENGINE"] else {
      return engines + (isLongRun ? [.postgresSharingCommits] : [])
    }
    return (engines + [.postgresSharingCommits]).filter { $0.testDescription == name }
  }
}
