// The dictionaries of a workspace and of its transactions.

extension Workspace {
  /// Values under names; see `WorkspaceDictionary`. Getting it costs nothing; all copies share their state.
  ///
  /// It can be set so that `dflat.dictionary["theme"] = "dark"` can be written. Setting it to another workspace's dictionary is a
  /// programmer error.
  public var dictionary: any WorkspaceDictionary {
    get { StoredDictionary(_core, _core.dictionaries.main) }
    nonmutating set {
      let access = newValue._access
      require(
        access.store === _core.dictionaries.main && access.transaction == nil,
        "dictionary was set to a dictionary that is not the workspace's own: set its values")
    }
  }

  /// A dictionary with keys of its own.
  ///
  ///     var settings = dflat.dictionary(namespace: "settings")
  ///     settings["volume"] = 0.8
  ///
  /// Programs that use upstream Dflat on the same file do not see its keys.
  ///
  /// - Parameter namespace: The name; the empty one is that of `dictionary`.
  /// - Returns: The dictionary. All copies share their state.
  public func dictionary(namespace: String) -> any WorkspaceDictionary {
    StoredDictionary(_core, _core.dictionaries.store(namespace))
  }
}

extension TransactionContext {
  private func _dictionary(_ namespace: String) -> any WorkspaceDictionary {
    guard let transaction = self as? Transaction else {
      misuse("dictionary was called on a transaction context that is not Dflat's")
    }
    return transaction._dictionary(namespace)
  }

  /// The workspace's dictionary as a part of the transaction: what is set is committed or undone with the objects.
  ///
  /// The first use takes the write lock, like the first submit. It sees what this transaction and those before it have set. Once the
  /// transaction is committed, everybody sees the changes, and subscribers are told before the completion handler.
  public var dictionary: any WorkspaceDictionary {
    get { _dictionary("") }
    nonmutating set {
      require(
        newValue._access.store === _dictionary("")._access.store
          && newValue._access.transaction != nil,
        "a transaction's dictionary was set to another one: set its values")
    }
  }

  /// The same for a namespace; see `Workspace.dictionary(namespace:)`.
  /// - Parameter namespace: The name.
  /// - Returns: The dictionary, which has a meaning inside the changes handler only.
  public func dictionary(namespace: String) -> any WorkspaceDictionary { _dictionary(namespace) }
}

extension WriteContext {
  /// The workspace's dictionary as a part of the transaction: what is set is committed or undone with the objects.
  ///
  /// The first use takes the write lock, like the first change. It sees what this transaction and those before it have set. Once the
  /// transaction is committed, everybody sees the changes.
  public var dictionary: any WorkspaceDictionary {
    get { dictionary(namespace: "") }
    set {
      let access = newValue._access
      require(
        access.store.namespace.isEmpty && access.transaction != nil,
        "a transaction's dictionary was set to another one: set its values")
    }
  }

  /// The same for a namespace; see `Workspace.dictionary(namespace:)`.
  /// - Parameter namespace: The name.
  /// - Returns: The dictionary, which has a meaning inside the closure only.
  public func dictionary(namespace: String) -> any WorkspaceDictionary {
    usesDictionary = true
    return transaction._dictionary(namespace)
  }
}
