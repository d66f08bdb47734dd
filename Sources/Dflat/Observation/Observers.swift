// Observers: the observers of a workspace, by entity type.

import Platform

final class Observers: Sendable {
  private let deliveries: TicketScheduler
  private let mayLag: Bool
  private let state = Mutex(State())
  /// Whether there are two types with one table.
  private let hasVersions = Atomic(false)
  private let links = Atomic(false)

  private struct State {
    var types: [ObjectIdentifier: TypeObservers] = [:]
    /// By the numbers of tables.
    var activities: [Int: TableActivity] = [:]
    /// The observers of the type that was asked for last.
    var latest: TypeObservers?
    /// The clock's value when changes by other connections were noticed last.
    var othersChanged: Int64 = 0
  }

  /// - Parameter mayLag: See `TypeObservers.mayLag`.
  init(_ deliveries: TicketScheduler, mayLag: Bool) {
    self.deliveries = deliveries
    self.mayLag = mayLag
  }

  /// The observers of a type. They are kept from the first use until the workspace is closed.
  func of(_ schema: EntitySchema) -> TypeObservers {
    state.withLock { state in
      if let latest = state.latest, latest.schema === schema { return latest }
      let id = ObjectIdentifier(schema)
      let observers = state.types[id] ?? makeObservers(of: schema, &state)
      state.types[id] = observers
      state.latest = observers
      return observers
    }
  }

  private func makeObservers(of schema: EntitySchema, _ state: inout State) -> TypeObservers {
    let known = state.activities[schema.tableNumber]
    if known != nil { hasVersions.store(true, ordering: .releasing) }
    // What others have changed before was noted for the types that were known then.
    let activity = known ?? TableActivity(lastChange: state.othersChanged)
    state.activities[schema.tableNumber] = activity
    return TypeObservers(schema, activity, deliveries, mayLag: mayLag)
  }

  /// The other versions of a type that were asked for.
  func otherVersions(of schema: EntitySchema) -> [TypeObservers] {
    if !hasVersions.load(ordering: .acquiring) { return [] }
    return state.withLock { state in
      state.types.values.filter {
        $0.schema.tableNumber == schema.tableNumber && $0.schema !== schema
      }
    }
  }

  /// Whether there ever was an observer of several types.
  var hasLinks: Bool {
    get { links.load(ordering: .acquiring) }
    set { links.store(newValue, ordering: .releasing) }
  }

  /// The types that have observers.
  var observed: [TypeObservers] {
    state.withLock { $0.types.values.filter(\.isObserved) }
  }

  /// Marks types as possibly changed by other connections, and those without observers so far.
  /// - Parameter tables: Their tables; nil for all.
  /// - Returns: Those that were asked for: versions of one schema have one table.
  @discardableResult
  func markPossiblyChanged(_ tables: Set<String>? = nil, at time: Int64) -> [TypeObservers] {
    let types = state.withLock { state in
      state.othersChanged = max(state.othersChanged, time)
      return state.types.values.filter { tables?.contains($0.schema.table) ?? true }
    }
    for type in types { type.markPossiblyChanged(at: time) }
    return types
  }
}
