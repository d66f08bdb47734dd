// Observers: the observers of a workspace, by entity type.

import Platform

final class Observers: Sendable {
  private let deliveries: TicketScheduler
  private let state = Mutex(State())

  private struct State {
    var types: [ObjectIdentifier: TypeObservers] = [:]
    /// The observers of the type that was asked for last.
    var latest: TypeObservers?
  }

  init(_ deliveries: TicketScheduler) {
    self.deliveries = deliveries
  }

  /// The observers of a type. They are kept from the first use until the workspace is closed.
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

  /// The types that have observers.
  var observed: [TypeObservers] {
    state.withLock { $0.types.values.filter(\.isObserved) }
  }

  /// The types whose objects are in a table: versions of one schema.
  func types(of table: String) -> [TypeObservers] {
    state.withLock { $0.types.values.filter { $0.schema.table == table } }
  }

  /// Marks all types as possibly changed.
  func markPossiblyChanged(at time: Int64) {
    for type in state.withLock({ Array($0.types.values) }) { type.markPossiblyChanged(at: time) }
  }
}
