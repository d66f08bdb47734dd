// RowRecorder: the ids of the rows of a table that transactions of this workspace write.
//
//  - A row is noted when it is written, whether that is committed or not. So after a commit whose
//    outcome is unknown, too, its rows are among the ids.
//  - If there are too many, which rows they are is no longer known.
//
// It is added to, and asked by, a thread that holds all write leases while no storage transaction
// is open: then everything that is noted is committed or rolled back.

import Platform

final class RowRecorder: Sendable {
  /// Some megabytes.
  private static let mostRows = 1 << 16

  private let ids = Mutex<Set<Int64>?>([])

  func wrote(_ id: Int64) {
    ids.withLock { ids in
      ids?.insert(id)
      if let count = ids?.count, count > Self.mostRows { ids = nil }
    }
  }

  /// How many rows were written; nil if there were too many.
  var count: Int? { ids.withLock { $0?.count } }

  /// The rows that were written since the last call, in ascending order; nil if there were too
  /// many.
  func take() -> [Int64]? {
    let taken = ids.withLock { ids in
      defer { ids = [] }
      return ids
    }
    return taken?.sorted()
  }
}
