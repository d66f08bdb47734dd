// The engines that every engine-neutral test runs on.

import DflatTestSupport
import PostgresTestSupport

extension TestEngine {
  /// All engines, including one with restricted capabilities.
  static let all = withServers(embedded)

  /// All engines. Those whose indexes other programs can change appear once for each state of the
  /// indexes.
  static let inEveryIndexState = withServers(embeddedInEveryIndexState)
}
