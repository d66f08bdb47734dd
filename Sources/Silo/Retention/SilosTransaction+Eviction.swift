// Evictions, checked once more at the end of their transaction.

import Dflat

extension SilosTransaction {
  /// Has the end of the transaction refuse the eviction of values that are managed then: its
  /// uploads and what it saves come later than the eviction.
  func noteEviction<V: Persistable>(of type: V.Type, _ ids: [V.ID]) {
    evictionChecks.append { [unowned self] in
      let stored = IDSet<V>(try access(type).load(type, ids).lazy.map { $0.id })
      let gone = ids.filter { !stored.contains($0) }
      let managed = try RetentionCheck.managed(type, gone, in: self)
      if managed.isEmpty { return }
      let deleted = try deleted(type, gone)
      if let id = gone.first(where: { managed.contains($0) && !deleted.contains($0) }) {
        throw SiloError.managed(type: "\(V.self)", id: "\(id)")
      }
    }
  }
}
