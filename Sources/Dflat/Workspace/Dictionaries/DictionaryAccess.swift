// DictionaryAccess: how the subscripts and methods of a dictionary reach its values.
//
//  - Outside of transactions a read asks the store and then the disk, and an assignment goes to the
//    store.
//  - In a transaction's dictionary both go to the transaction's draft, which takes precedence over
//    the store. If other connections can write meanwhile, what the store remembers may be old: then
//    the draft is followed by what waits to be written, and that by what is stored.

import FlatBuffersRuntime

/// Access to the values of a dictionary. For Dflat.
public struct DictionaryAccess: Sendable {
  let core: WorkspaceCore
  let store: DictionaryStore
  /// The transaction that the dictionary belongs to, if any.
  let transaction: Transaction?
  /// Keeps the workspace for a dictionary that the program has got from it.
  let lifetime: WorkspaceLifetime?

  /// The same access, which does not keep the workspace open.
  var withoutLifetime: DictionaryAccess {
    DictionaryAccess(core: core, store: store, transaction: transaction, lifetime: nil)
  }
}

extension DictionaryAccess {
  /// Whether the dictionary is used inside a function of a query, which is reported: there it might
  /// wait for what the query holds.
  var isRefused: Bool {
    if !FunctionThread.isInside { return false }
    core.report(WorkspaceError.calledByFunction)
    return true
  }
}

// MARK: Reading

extension DictionaryAccess {
  func get<T>(_ key: String, _ coding: DictionaryCoding<T>) -> T? {
    let key = store.key(key)
    return value(of: contents(of: key), key, coding)
  }

  @inline(__always)
  func contents(of key: DictionaryKey) -> DictionaryContents {
    if isRefused { return .absent }
    return transaction == nil ? core.contents(of: key, in: store) : draftedContents(of: key)
  }

  private func draftedContents(of key: DictionaryKey) -> DictionaryContents {
    if let draft = draft("a dictionary was read") {
      guard let draft else { return .absent }
      if let transaction, core.isShared {
        return transaction.currentContents(of: key, in: draft)
      }
      if let contents = core.draftedContents(of: key, in: draft) { return contents }
    }
    return core.contents(of: key, in: store)
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
      reportWrongType(of: contents, key.text, as: T.self)
    } catch {
      reportWrongType(of: contents, key.text, as: T.self, error)
    }
    return nil
  }

  func reportWrongType(
    of contents: DictionaryContents, _ key: String, as type: Any.Type,
    _ error: (any Error)? = nil
  ) {
    core.report(
      DictionaryError(
        cause: .wrongType, namespace: store.namespace, key: key,
        message: "it holds a value of the kind \(contents.kindName) and was read as \(type)"
          + (error.map { ": \($0)" } ?? "")))
  }
}

// MARK: Assigning

extension DictionaryAccess {
  func set<T>(_ key: String, _ value: T?, _ coding: DictionaryCoding<T>) {
    guard let value else { return set(key, .absent) }
    let (contents, error) = coding.contents(value)
    if let error {
      core.report(
        DictionaryError(
          cause: .notEncodable, namespace: store.namespace, key: key,
          message: "the value stays in memory only: \(error)"))
    }
    set(key, contents) { coding.isSame(value, contents, as: $0) }
  }

  /// - Parameter isEqual: Whether encoded contents are the same value. Called with no lock held.
  func set(
    _ key: String, _ contents: DictionaryContents,
    isEqual: (StoredBytes) -> Bool = { _ in false }
  ) {
    if isRefused { return }
    let text = key
    let key = store.key(key)
    if let draft = draft("a dictionary was changed") {
      draft?.set(contents, for: key)
      return
    }
    var isWritten =
      if case .encoded(let value) = contents { value.bytes != nil } else { true }
    // Written together with others, it would keep them from being stored. A row of SQLite has a
    // billion bytes at most, and the key twice.
    let greatest = min(FlatBufferBuilder.greatestSize, 1_000_000_000) - 1024
    let size = contents.byteCount + 2 * (text.utf8.count + store.namespace.utf8.count)
    if size > greatest {
      isWritten = false
      core.report(
        DictionaryError(
          cause: .notEncodable, namespace: store.namespace, key: text,
          message:
            "the value stays in memory only: with its key it takes \(size) bytes, and a stored "
            + "one \(greatest) at most"))
    }
    var different: StoredBytes?
    while true {
      switch store.set(key, contents, isWritten: isWritten, different: different) {
      case .same: return
      case .changed(let isFirst, let news):
        if isFirst { core.scheduleWriting(of: store) }
        news?.deliver()
        return
      case .compare(let present):
        if isEqual(present) { return }
        different = present
      }
    }
  }

  /// The draft of the transaction, if this is a transaction's dictionary. The inner optional is nil
  /// if the transaction has failed.
  private func draft(_ call: String) -> DictionaryDraft?? {
    guard let transaction else { return .none }
    return .some(transaction.draft(of: store, for: call))
  }
}
