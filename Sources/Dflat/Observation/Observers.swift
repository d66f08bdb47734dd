// Observers: the observers of a workspace, by entity type.

import Synchronization

final class Observers: Sendable {
  private let deliveries: TicketScheduler
  private let types = Mutex<[ObjectIdentifier: TypeObservers]>([:])

  init(_ deliveries: TicketScheduler) {
    self.deliveries = deliveries
  }

  /// Those of a type. They are there from the first use to the workspace's end.
  func of(_ schema: EntitySchema) -> TypeObservers {
    types.withLock { types in
      if let known = types[ObjectIdentifier(schema)] { return known }
      let observers = TypeObservers(schema, deliveries)
      types[ObjectIdentifier(schema)] = observers
      return observers
    }
  }

  /// The types that somebody observes.
  var observed: [TypeObservers] {
    types.withLock { $0.values.filter(\.isObserved) }
  }

  /// All types may have been changed.
  func doubt(at time: Int64) {
    for type in types.withLock({ Array($0.values) }) { type.doubt(at: time) }
  }
}
