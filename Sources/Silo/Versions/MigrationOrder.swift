// MigrationOrder: which types are migrated before others, because their steps read these.

import Platform

/// The types of a domain whose migrations read other types.
package final class MigrationOrder: Sendable {
  private struct State {
    var known: Set<ObjectIdentifier> = []
    /// The types whose steps read an old version of a type.
    var readers: [ObjectIdentifier: [any Persistable.Type]] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Notes that a type is used in the domain.
  package func add<V: Persistable>(_ type: V.Type) {
    if state.withLock({ $0.known.contains(ObjectIdentifier(type)) }) { return }
    let reads = V.migrations.readTypes
    state.withLock { state in
      guard state.known.insert(ObjectIdentifier(type)).inserted else { return }
      for read in reads where read._newest != read {
        state.readers[ObjectIdentifier(read._newest), default: []].append(type)
      }
    }
  }

  /// The types that are migrated before a type: those whose steps read its old versions, and those
  /// that its own steps read in their newest version.
  package func before<V: Persistable>(_ type: V.Type) -> [any Persistable.Type] {
    let readers = state.withLock { $0.readers[ObjectIdentifier(type)] ?? [] }
    let newest = V.migrations.readTypes.filter { $0._newest == $0 }
    return (readers + newest).filter { $0 != type }
  }
}
