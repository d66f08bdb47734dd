// The engines that every engine-neutral test runs on.

import DflatTestSupport
import PostgresTestSupport

extension TestEngine {
  /// All engines, including one with restricted capabilities, and one whose write transactions are
  /// bound to a thread.
  static let all = withServers(embedded + [.boundMemory])

  /// All engines. Those whose indexes other programs can change appear once for each state of the
  /// indexes.
  static let inEveryIndexState = withServers(embeddedInEveryIndexState)
}
