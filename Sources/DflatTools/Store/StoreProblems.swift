// StoreProblems: what a store could not read while it answered.

import Platform

/// Collects the errors that a workspace reports while tools use it: objects that are damaged are
/// left out of answers, and reported.
package final class StoreProblems: Sendable {
  private let texts = Mutex<[String]>([])
  private static let limit = 100

  package init() {}

  /// Each of them once, the first hundred.
  package var all: [String] { texts.withLock { $0 } }

  package func note(_ error: any Error) {
    let text = "\(error)"
    texts.withLock { texts in
      if texts.count < Self.limit, !texts.contains(text) { texts.append(text) }
    }
  }
}
