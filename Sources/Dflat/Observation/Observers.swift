// Observers: the observers of a workspace, by entity type.

import Platform

final class Observers: Sendable {
  private let deliveries: TicketScheduler
  private let state = Mutex(State())

  private struct State {
    var types: [ObjectIdentifier: TypeObservers] = [:]
    /// Those that were asked for last.
    var latest: TypeObservers?
  }

  init(_ deliveries: TicketScheduler) {
    self.deliveries = deliveries
  }

  /// Those of a type. They are there from the first use to the workspace's end.
  func of(_ schema: EntitySchema) -> TypeObservers {
    state.withLock { state in
      if let latest = state.latest, latest.schema === schema { return latest }
      let id = ObjectIdentifier(schema)
      let observers = state.types[id] ?? TypeObservers(schema, deliveries)
      state.types[id] = observers
      state.latest = observers
      return observers
    }
  }

  /// The types that somebody observes.
  var observed: [TypeObservers] {
    state.withLock { $0.types.values.filter(\.isObserved) }
  }

  /// All types may have been changed.
  func doubt(at time: Int64) {
    for type in state.withLock({ Array($0.types.values) }) { type.doubt(at: time) }
  }
}
