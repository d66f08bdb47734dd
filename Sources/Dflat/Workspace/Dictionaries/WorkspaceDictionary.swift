// WorkspaceDictionary: persistent values under string keys, as programs use them.
//
// This file has the operations on all keys. Those on one key are in
// WorkspaceDictionary+Values.swift and WorkspaceDictionary+Watching.swift; all of them go through
// DictionaryAccess.

/// A persistent map from strings to values, which any thread may use.
///
///     dflat.dictionary["theme"] = "dark"
///     let theme = dflat.dictionary["theme", default: "light"]
///
/// Values are `Bool`, `Int`, `UInt`, `Float`, `Double`, `String`, anything `Codable`, and generated
/// FlatBuffers values. An assignment is visible at once and written soon after; the first read of a
/// key reads the disk, later ones read memory. See <doc:Dictionary>.
public protocol WorkspaceDictionary: Sendable {
  /// The access to the values. For Dflat.
  var _access: DictionaryAccess { get }
  /// The contents of a key. This is a function so that reading does not retain and release the
  /// references in `_access`. For Dflat.
  func _contents(of key: String) -> DictionaryStored
}

struct StoredDictionary: WorkspaceDictionary {
  let _access: DictionaryAccess

  init(
    _ core: WorkspaceCore, _ store: DictionaryStore, in transaction: Transaction? = nil,
    keeping lifetime: WorkspaceLifetime? = nil
  ) {
    _access = DictionaryAccess(
      core: core, store: store, transaction: transaction, lifetime: lifetime)
  }

  func _contents(of key: String) -> DictionaryStored {
    DictionaryStored(_access.contents(of: _access.store.key(key)))
  }
}

extension WorkspaceDictionary {
  /// Waits until everything that was assigned before the call is written. Values that could not be
  /// written are reported to the error hook.
  ///
  /// Calling it inside a changes handler that has submitted something, or on a transaction's
  /// dictionary, is a programmer error: the transaction would wait for itself.
  public func synchronize() {
    let access = _access
    require(
      access.transaction == nil,
      "synchronize() was called on a transaction's dictionary: it would wait for itself")
    if access.isRefused { return }
    access.core.synchronize(access.store)
  }

  /// All keys, in no particular order. They are read from the disk.
  public var keys: [String] {
    let access = _access
    if access.isRefused { return [] }
    guard let transaction = access.transaction else {
      return access.core.keys(of: access.store)
    }
    return transaction.dictionaryKeys(of: access.store)
  }

  /// Removes every key. Subscribers of all keys are notified, even of keys without a value.
  public mutating func removeAll() {
    let access = _access
    if access.isRefused { return }
    if let transaction = access.transaction {
      guard let draft = transaction.draft(of: access.store, for: "removeAll()") else { return }
      draft.removeAll()
      return
    }
    let (isFirst, news) = access.store.removeAll()
    if isFirst { access.core.scheduleWriting(of: access.store) }
    news.deliver()
  }

  /// Removes a key, whatever type its value has, from memory and from the disk.
  /// - Parameter key: The key. If it has no value, nothing happens.
  public mutating func removeValue(forKey key: String) {
    _access.set(key, .absent)
  }
}
