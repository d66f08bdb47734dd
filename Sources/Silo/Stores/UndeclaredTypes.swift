// UndeclaredTypes: why a transaction runs again.

/// The types that a transaction uses and that were not known before.
struct UndeclaredTypes: Error {
  let types: [any Persistable.Type]
}
