// The dictionaries of a workspace and of its transactions.

extension Workspace {
  /// The workspace's dictionary, a persistent map from strings to values; see
  /// `WorkspaceDictionary`. Getting it costs nothing; all copies share their state.
  ///
  /// The property has a setter so that `dflat.dictionary["theme"] = "dark"` compiles. Setting it to
  /// another workspace's dictionary is a programmer error.
  public var dictionary: any WorkspaceDictionary {
    get { StoredDictionary(_core, _core.dictionaries.main, keeping: _lifetime) }
    nonmutating set {
      let access = newValue._access
      require(
        access.store === _core.dictionaries.main && access.transaction == nil,
        "dictionary was set to a dictionary that is not the workspace's own: set its values")
    }
  }

  /// A dictionary with a separate set of keys.
  ///
  ///     var settings = dflat.dictionary(namespace: "settings")
  ///     settings["volume"] = 0.8
  ///
  /// Programs that use upstream Dflat on the same file do not see its keys.
  ///
  /// - Parameter namespace: The name. The empty name is the namespace of `dictionary`.
  /// - Returns: The dictionary. All copies share their state.
  public func dictionary(namespace: String) -> any WorkspaceDictionary {
    StoredDictionary(_core, _core.dictionaries.store(namespace), keeping: _lifetime)
  }
}

extension TransactionContext {
  private func _dictionary(_ namespace: String) -> any WorkspaceDictionary {
    guard let transaction = self as? Transaction else {
      misuse("dictionary was called on a transaction context that is not Dflat's")
    }
    return transaction._dictionary(namespace)
  }

  /// The workspace's dictionary as a part of the transaction: assignments are committed or rolled
  /// back with the objects.
  ///
  /// The first use takes the write lock, as the first submit does. It sees the values that this
  /// transaction and earlier ones have set. Once the transaction is committed, its changes are
  /// visible everywhere, and subscribers are notified before the completion handler.
  public var dictionary: any WorkspaceDictionary {
    get { _dictionary("") }
    nonmutating set {
      require(
        newValue._access.store === _dictionary("")._access.store
          && newValue._access.transaction != nil,
        "a transaction's dictionary was set to another one: set its values")
    }
  }

  /// The dictionary of a namespace as a part of the transaction; see
  /// `Workspace.dictionary(namespace:)`.
  /// - Parameter namespace: The name.
  /// - Returns: The dictionary, which is valid inside the changes handler only.
  public func dictionary(namespace: String) -> any WorkspaceDictionary { _dictionary(namespace) }
}

extension WriteContext {
  /// The workspace's dictionary as a part of the transaction: assignments are committed or rolled
  /// back with the objects.
  ///
  /// The first use takes the write lock, as the first change does. It sees the values that this
  /// transaction and earlier ones have set. Once the transaction is committed, its changes are
  /// visible everywhere.
  public var dictionary: any WorkspaceDictionary {
    get { dictionary(namespace: "") }
    set {
      let access = newValue._access
      require(
        access.store.namespace.isEmpty && access.transaction != nil,
        "a transaction's dictionary was set to another one: set its values")
    }
  }

  /// The dictionary of a namespace as a part of the transaction; see
  /// `Workspace.dictionary(namespace:)`.
  /// - Parameter namespace: The name.
  /// - Returns: The dictionary, which is valid inside the closure only.
  public func dictionary(namespace: String) -> any WorkspaceDictionary {
    usesDictionary = true
    return transaction._dictionary(namespace)
  }
}
