// DeepSaving: saves a value with the values that its relations contain.

/// What happens to related values when a value is saved.
public enum RelatedSaving: Sendable {
  /// Only the ids are saved; related values are not touched.
  case references
  /// Related values that are resolved are saved, too, and those that they refer to, each once.
  case deep
}

/// Gathers resolved values without recursion, so that neither cycles nor long chains matter.
struct DeepSaving: RelatedVisitor {
  /// Ids that differ in their bytes are different, also if Swift compares them as equal.
  private var seen: Set<Subject> = []
  private var values: [any Persistable] = []

  /// - Parameter roots: The values to save, which take precedence over related ones.
  init<V: Persistable>(_ roots: [V]) {
    for value in roots { add(value, replaces: true) }
    var next = 0
    while next < values.count {
      let value = values[next]
      value._visitRelated(&self)
      next += 1
    }
  }

  private mutating func add<V: Persistable>(_ value: V, replaces: Bool) {
    let isNew = seen.insert(Subject(V.self, value.id)).inserted
    if isNew || replaces { values.append(value) }
  }

  mutating func visit<V: Persistable>(_ item: RelatedItem<V>) {
    if case .resolved(let value) = item { add(value, replaces: false) }
  }

  func save(in transaction: SilosTransaction, ifDeleted: DeletedSaving) throws {
    // Before any of them is saved: the caller may go on after the refusal of one.
    try check(in: transaction, ifDeleted)
    for value in values { try save(value, in: transaction, ifDeleted) }
  }

  private func check(in transaction: SilosTransaction, _ ifDeleted: DeletedSaving) throws {
    func check<V: Persistable>(_ value: V) throws {
      _ = try transaction.access(V.self)
      if case .refuse = ifDeleted { try transaction.refuseDeleted([value]) }
    }
    // The first error is enough to find out a type; the others are found in one run, too.
    var failure: (any Error)?
    for value in values {
      do { try check(value) } catch let error as UndeclaredTypes { failure = error }
    }
    if let failure { throw failure }
  }

  private func save<V: Persistable>(
    _ value: V, in transaction: SilosTransaction, _ ifDeleted: DeletedSaving
  ) throws {
    try transaction[V.self].save(value, ifDeleted: ifDeleted)
  }
}
