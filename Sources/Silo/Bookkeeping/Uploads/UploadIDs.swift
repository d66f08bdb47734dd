// UploadIDs: the ids of uploads, which tell the order of transactions also across domains.
//
// In one domain the next id is greater than those that are stored. Uploads of one ordering key may
// be in several domains, after a move for instance, and are sent in the order of their ids. So the
// next id is also greater than every id that the process knows from another domain.

import Dflat
import Platform

final class UploadIDs: Sendable {
  private struct State {
    var last: Int64 = 0
    /// The domains whose last id is known.
    var known: [any StoreDomain] = []
  }

  private let state = Mutex(State())

  /// Notes that an id is used.
  func use(_ id: Int64) { state.withLock { $0.last = max($0.last, id) } }

  /// The id behind which the next upload of a transaction comes.
  func last(in transaction: any StoreTransaction) throws -> Int64 {
    let stored = try transaction.values(Self.lastUpload).first?.id ?? 0
    return state.withLock { max($0.last, stored) }
  }

  /// Looks up the last ids of domains that are not known yet. One that cannot be read now stops no
  /// changes of the others.
  func learn(_ domains: [any StoreDomain]) async {
    let known = state.withLock(\.known)
    for domain in domains where !known.contains(where: { $0 === domain }) {
      let uploads = domain.store(of: StoredUpload.self)
      guard let last = try? await uploads.values(Self.lastUpload) else { continue }
      state.withLock { state in
        state.last = max(state.last, last.first?.id ?? 0)
        state.known.append(domain)
      }
    }
  }

  private static var lastUpload: ValueQuery<StoredUpload> {
    ValueQuery(orderBy: [StoredUpload.id.descending], limit: 1)
  }
}
