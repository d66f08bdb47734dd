// A common limit of idle readers for many small pools.
//
// An idle reader keeps two files open; closing it frees one at least. A program with hundreds of
// databases, such as workspaces in memory, would reach the limit of open files with readers that it
// used once. So only the pools that have opened a reader last keep idle ones. This is noted when a
// reader is opened, and costs nothing otherwise.

import Platform

final class IdleReaders: Sendable {
  static let shared = IdleReaders(limit: 16)

  private struct Reference: Sendable {
    weak var pool: ReaderPool?
  }

  private let limit: Int
  /// The pools that may have idle readers, in the order in which they last opened one.
  private let pools = Mutex<[Reference]>([])

  private init(limit: Int) {
    self.limit = limit
  }

  /// Notes that a pool has opened a reader.
  func note(_ pool: ReaderPool) {
    let last = pools.withLock { pools -> ReaderPool? in
      pools.removeAll { $0.pool == nil || $0.pool === pool }
      pools.append(Reference(pool: pool))
      return pools.count > limit ? pools.removeFirst().pool : nil
    }
    last?.closeIdle()
  }
}

extension ReaderPool {
  /// Keeps idle readers only as long as this is one of the pools that have opened a reader last, of
  /// those for which this was called.
  package func shareIdleReaders() { sharesIdleReaders.store(true, ordering: .relaxed) }
}
