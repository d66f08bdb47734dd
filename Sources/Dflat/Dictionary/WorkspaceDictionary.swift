// WorkspaceDictionary: values under names, as programs use them.
//
// All kinds of values go the same way: a coding, and two functions here. What follows them are the forms of call.

/// A persistent map from strings to values, which any thread may use.
///
///     dflat.dictionary["theme"] = "dark"
///     let theme = dflat.dictionary["theme", default: "light"]
///
/// Values are `Bool`, `Int`, `UInt`, `Float`, `Double`, `String`, anything `Codable`, and generated FlatBuffers values. A set is seen
/// at once and written soon after; a get reads the disk once. See <doc:Dictionary>.
public protocol WorkspaceDictionary: Sendable {
  /// Where the values are. For Dflat.
  var _access: DictionaryAccess { get }
  /// What is stored under a key. A call, so that reading does not count references to what `_access` holds. For Dflat.
  func _contents(of key: String) -> DictionaryStored
}

/// What is stored under a key. For Dflat.
public struct DictionaryStored: Sendable {
  let contents: DictionaryContents
}

/// A way to the values of a dictionary. For Dflat.
public struct DictionaryAccess: Sendable {
  let core: WorkspaceCore
  let store: DictionaryStore
  /// The transaction whose dictionary it is.
  let transaction: UncheckedTransaction?
}

/// Unchecked: used on the transaction's thread only, which is checked.
struct UncheckedTransaction: @unchecked Sendable {
  let transaction: Transaction
}

struct StoredDictionary: WorkspaceDictionary {
  let _access: DictionaryAccess

  init(_ core: WorkspaceCore, _ store: DictionaryStore, in transaction: Transaction? = nil) {
    _access = DictionaryAccess(
      core: core, store: store,
      transaction: transaction.map { UncheckedTransaction(transaction: $0) })
  }

  func _contents(of key: String) -> DictionaryStored {
    DictionaryStored(contents: _access.contents(of: _access.store.key(key)))
  }
}

extension WorkspaceDictionary {
  /// A value that contents hold as it is: the coding is needed only if there is none.
  @inline(__always)
  func scalar<T: DictionaryScalar>(
    _ key: String, _ coding: @autoclosure () -> DictionaryCoding<T>
  ) -> T? {
    let contents = _contents(of: key).contents
    return T(contents) ?? _access.value(of: contents, key, coding())
  }
}

// MARK: The one way

extension DictionaryAccess {
  func get<T>(_ key: String, _ coding: DictionaryCoding<T>) -> T? {
    let key = store.key(key)
    return value(of: contents(of: key), key, coding)
  }

  @inline(__always)
  fileprivate func contents(of key: DictionaryKey) -> DictionaryContents {
    transaction == nil ? core.contents(of: key, in: store) : draftedContents(of: key)
  }

  private func draftedContents(of key: DictionaryKey) -> DictionaryContents {
    if let draft = draft("a dictionary was read") {
      guard let draft else { return .absent }
      if let contents = core.draftedContents(of: key, in: draft) { return contents }
    }
    return core.contents(of: key, in: store)
  }

  func set<T>(_ key: String, _ value: T?, _ coding: DictionaryCoding<T>) {
    let key = store.key(key)
    guard let value else { return set(key, .absent, coding) }
    let (contents, error) = coding.contents(value)
    if let error {
      core.report(
        DictionaryError(
          cause: .notEncodable, namespace: store.namespace, key: key.text,
          message: "the value stays in memory only: \(error)"))
    }
    set(key, contents, coding)
  }

  private func set<T>(
    _ key: DictionaryKey, _ contents: DictionaryContents, _ coding: DictionaryCoding<T>
  ) {
    if let draft = draft("a dictionary was changed") {
      draft?.changes[key] = contents
      return
    }
    let isWritten =
      if case .encoded(let value) = contents { value.bytes != nil } else { true }
    var different: StoredBytes?
    while true {
      switch store.set(key, contents, isWritten: isWritten, different: different) {
      case .same: return
      case .changed(let isFirst, let news):
        if isFirst { core.scheduleWriting(of: store) }
        news?.deliver()
        return
      case .compare(let present):
        // The program's own `==`, outside of the lock.
        if let old = try? coding.value(.encoded(present)),
          let new = try? coding.value(contents), old == new
        {
          return
        }
        different = present
      }
    }
  }

  fileprivate func value<T>(
    of contents: DictionaryContents, _ key: String, _ coding: DictionaryCoding<T>
  ) -> T? {
    contents.isAbsent ? nil : value(of: contents, store.key(key), coding)
  }

  func value<T>(
    of contents: DictionaryContents, _ key: DictionaryKey, _ coding: DictionaryCoding<T>
  ) -> T? {
    if contents.isAbsent { return nil }
    do {
      if let value = try coding.value(contents) {
        if let better = coding.remembering(value, contents) {
          store.replace(key, contents, by: better)
        }
        return value
      }
      reportWrongType(of: contents, key, as: T.self, nil)
    } catch {
      reportWrongType(of: contents, key, as: T.self, error)
    }
    return nil
  }

  private func reportWrongType<T>(
    of contents: DictionaryContents, _ key: DictionaryKey, as type: T.Type, _ error: (any Error)?
  ) {
    core.report(
      DictionaryError(
        cause: .wrongType, namespace: store.namespace, key: key.text,
        message: "it holds a value of the kind \(contents.kindName) and was read as \(type)"
          + (error.map { ": \($0)" } ?? "")))
  }

  /// What the transaction does, if this is a transaction's dictionary; nil inside if the transaction has failed.
  private func draft(_ call: String) -> DictionaryDraft?? {
    guard let transaction = transaction?.transaction else { return .none }
    return .some(transaction.draft(of: store, for: call))
  }
}

extension WorkspaceDictionary {
  /// Waits until everything that was set before the call is written, or could not be written, which the error hook hears.
  ///
  /// Not inside a changes handler that has submitted something, nor on a transaction's dictionary: it would wait for itself, which is
  /// a programmer error.
  public func synchronize() {
    let access = _access
    require(
      access.transaction == nil,
      "synchronize() was called on a transaction's dictionary: it would wait for itself")
    access.core.synchronize(access.store)
  }

  /// All keys, in no particular order. They are read from the disk.
  public var keys: [String] {
    let access = _access
    guard let transaction = access.transaction?.transaction else {
      return access.core.keys(of: access.store)
    }
    return transaction.dictionaryKeys(of: access.store)
  }

  /// Removes every key. Subscribers of all keys hear of it, also of those without a value.
  public mutating func removeAll() {
    let access = _access
    if let transaction = access.transaction?.transaction {
      guard let draft = transaction.draft(of: access.store, for: "removeAll()") else { return }
      draft.erases = true
      draft.changes = [:]
      return
    }
    let (isFirst, news) = access.store.removeAll()
    if isFirst { access.core.scheduleWriting(of: access.store) }
    news.deliver()
  }

  /// Removes a key, whatever it holds, from the disk, too.
  /// - Parameter key: The key; nothing happens if there is none.
  public mutating func removeValue(forKey key: String) {
    _access.set(key, nil, .int)
  }
}
