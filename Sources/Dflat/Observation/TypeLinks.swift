// TypeLinks: which types have their changes delivered one after another.
//
// A result that depends on several types is changed by the deliveries of all of them. So each
// transaction that has changed one of these types is delivered in the queues of all. Invariants:
//
//  - the types are linked before the result takes its position in the order of deliveries, and
//    until a delivery of all of them has ended it;
//  - a delivery takes its queues under the lock of the write coordinator, as the result takes its
//    position. So each delivery that comes behind the result has the queues of all its types.

import Platform

/// The types that the deliveries of one type wait for.
final class TypeLinks: Sendable {
  private struct State {
    /// Each set of types, with the number of results that depend on it.
    var sets: [(types: TypeSet, uses: Int)] = []
    /// The types of all sets.
    var all: TypeSet = []
  }

  private let used = Atomic(false)
  private let state = Mutex(State())

  /// Whether there ever were any.
  var isUsed: Bool { used.load(ordering: .acquiring) }

  /// The types, with the linked one itself; nil if there are none.
  var types: TypeSet? {
    if !isUsed { return nil }
    return state.withLock { $0.sets.isEmpty ? nil : $0.all }
  }

  /// Links some types for a result.
  func add(_ types: TypeSet) {
    state.withLock { state in
      if let place = state.sets.firstIndex(where: { $0.types == types }) {
        state.sets[place].uses += 1
        return
      }
      state.sets.append((types, 1))
      state.all.formUnion(types)
    }
    used.store(true, ordering: .releasing)
  }

  /// Ends what `add` has begun.
  func remove(_ types: TypeSet) {
    state.withLock { state in
      guard let place = state.sets.firstIndex(where: { $0.types == types }) else {
        preconditionFailure("types are unlinked that were not linked")
      }
      state.sets[place].uses -= 1
      if state.sets[place].uses > 0 { return }
      state.sets.remove(at: place)
      state.all = state.sets.reduce(into: []) { $0.formUnion($1.types) }
    }
  }
}
