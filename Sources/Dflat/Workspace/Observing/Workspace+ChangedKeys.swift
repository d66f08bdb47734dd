// Observing which objects of a type change, without holding any of them: for caches.

extension Workspace {
  /// Calls a handler with the primary keys of the objects of a type that a transaction has
  /// inserted, changed or deleted.
  ///
  ///     subscription = dflat.subscribe(changedKeysOf: Article.self) { keys in
  ///       if let keys { cache.forget(keys) } else { cache.forgetAll() }
  ///     }
  ///
  /// The handler is called before the transaction's completion handler, and before `write` returns.
  /// It is called with nil when the subscription begins, and whenever any object may have changed,
  /// as after changes by other connections; these are noticed as for any subscription.
  ///
  /// - Parameters:
  ///   - type: The type of the objects.
  ///   - changeHandler: Gets each key once; nil if any object may have changed.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Atom>(
    changedKeysOf type: Element.Type,
    changeHandler: @escaping @Sendable (_ keys: [Element.ID]?) -> Void
  ) -> any Subscription {
    let core = _core
    // No row is held, so reading the held rows again finds none: then any row may have changed.
    let observer = HeldRowsObserver(
      core.observers.of(Element._schema), held: { [] },
      { event in
        guard case .changed(let left, let entered) = event, !left.isEmpty || !entered.isEmpty else {
          return changeHandler(nil)
        }
        // A row that another connection has removed has an id and no bytes: its key is not known.
        if left.contains(where: { $0.count == 0 }) { return changeHandler(nil) }
        var seen: Set<CompositeKey<Element.ID>> = []
        var keys: [Element.ID] = []
        for row in left + entered {
          let key = Element(_row: row).id
          if seen.insert(CompositeKey(key)).inserted { keys.append(key) }
        }
        changeHandler(keys)
      })
    return core.register(observer, readAt: -1)
  }
}
