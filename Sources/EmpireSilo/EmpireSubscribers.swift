// EmpireSubscribers: the handlers that get the ids of values which transactions have changed.

import Platform
import Silo

/// Values that a transaction has changed.
struct EmpireChange: Sendable {
  let type: ObjectIdentifier
  /// The table, if other domains follow it.
  let table: String?
  /// An array of the ids of this type.
  let ids: any Sendable

  init<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) {
    self.type = ObjectIdentifier(type)
    table = type is any Bookkeeping.Type ? nil : Canonical<V>._schema.table
    self.ids = ids
  }
}

final class EmpireSubscribers: Sendable {
  typealias Handler = @Sendable (_ ids: any Sendable) -> Void

  private struct State {
    var last = 0
    var handlers: [ObjectIdentifier: [Int: Handler]] = [:]
  }

  private let state = Mutex(State())

  func add<V: Persistable>(_ type: V.Type, _ handler: @escaping Handler) -> ValueSubscription {
    let id = ObjectIdentifier(type)
    let number = state.withLock { state in
      state.last += 1
      state.handlers[id, default: [:]][state.last] = handler
      return state.last
    }
    return ValueSubscription { [weak self] in
      _ = self?.state.withLock { $0.handlers[id]?.removeValue(forKey: number) }
    }
  }

  func notify(_ changes: [EmpireChange]) {
    for change in changes {
      let handlers = state.withLock { $0.handlers[change.type] ?? [:] }
      for handler in handlers.values { handler(change.ids) }
    }
  }
}
