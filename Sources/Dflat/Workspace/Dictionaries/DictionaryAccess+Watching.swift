// Subscriptions to a key, for all kinds of values.

/// An event of a key that a program has subscribed to.
public enum SubscribedDictionaryValue<Element: Equatable>: Equatable {
  /// The value when the subscription began; nil if there was none.
  case initial(_: Element?)
  /// The key has a new value.
  case updated(_: Element)
  /// The key no longer has a value of the type.
  case deleted
}

extension SubscribedDictionaryValue: Sendable where Element: Sendable {}

extension DictionaryAccess {
  func subscribe<T>(
    _ key: String, _ coding: DictionaryCoding<T>,
    _ handler: @escaping @Sendable (SubscribedDictionaryValue<T>) -> Void
  ) -> any WorkspaceSubscription {
    core.follower?.begin(in: core)
    let key = store.key(key)
    let decoder = WeakAccess(self)
    let watcher = DictionaryWatcher { news in
      let event: SubscribedDictionaryValue<T> =
        switch news {
        case .initial(let contents): .initial(decoder.value(of: contents, key, coding))
        case .changed(let contents):
          decoder.value(of: contents, key, coding).map { .updated($0) } ?? .deleted
        }
      return { handler(event) }
    }
    if !isRefused {
      var isWatched = false
      while !isWatched {
        let moment = store.moment
        isWatched = store.watch(
          key, watcher, otherwise: core.presentContents(of: key, in: store), readSince: moment)
      }
      watcher.deliver()
    }
    return DictionarySubscription(store, key, watcher)
  }

  func stream<T>(
    _ key: String, _ coding: DictionaryCoding<T>,
    _ policy: AsyncStream<T?>.Continuation.BufferingPolicy
  ) -> AsyncStream<T?> {
    AsyncStream(T?.self, bufferingPolicy: policy) { continuation in
      let subscription = subscribe(key, coding) { event in
        switch event {
        case .initial(let value): continuation.yield(value)
        case .updated(let value): continuation.yield(value)
        case .deleted: continuation.yield(nil)
        }
      }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}

/// Decodes values for a subscription, which does not keep the workspace alive.
private struct WeakAccess: Sendable {
  private weak let core: WorkspaceCore?
  private let store: DictionaryStore

  init(_ access: DictionaryAccess) {
    core = access.core
    store = access.store
  }

  func value<T>(
    of contents: DictionaryContents, _ key: DictionaryKey, _ coding: DictionaryCoding<T>
  ) -> T? {
    // Without a workspace there is no error hook that an error could be reported to.
    guard let core else { return try? coding.value(contents) }
    return DictionaryAccess(core: core, store: store, transaction: nil, lifetime: nil)
      .value(of: contents, key, coding)
  }
}
