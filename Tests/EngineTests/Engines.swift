// The engines that every engine-neutral test runs on. To add an engine, add it here.

import DflatTestSupport
import PostgresTestSupport

extension TestEngine {
  /// All engines, including one with restricted capabilities.
  static let all: [TestEngine] = embedded + [.postgres]

  /// All engines. Those whose indexes other programs can change appear once for each state of the
  /// indexes.
  static let inEveryIndexState = embeddedInEveryIndexState + [.postgres]
}
