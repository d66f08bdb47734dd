// Watching a key.

/// What has become of a watched key.
public enum SubscribedDictionaryValue<Element: Equatable>: Equatable {
  /// The value when the subscription began; nil if there was none.
  case initial(_: Element?)
  /// The key has a new value.
  case updated(_: Element)
  /// The key has no value of the type any more.
  case deleted
}

extension SubscribedDictionaryValue: Sendable where Element: Sendable {}

extension DictionaryAccess {
  func subscribe<T>(
    _ key: String, _ coding: DictionaryCoding<T>,
    _ handler: @escaping @Sendable (SubscribedDictionaryValue<T>) -> Void
  ) -> any WorkspaceSubscription {
    let key = store.key(key)
    let access = DictionaryAccess(core: core, store: store, transaction: nil)
    let erasure = store.erasure
    let contents = core.contents(of: key, in: store)
    let store = store
    let reporting = WeakAccess(access)
    let watcher = DictionaryWatcher { news in
      let event: SubscribedDictionaryValue<T> =
        switch news {
        case .initial(let contents): .initial(reporting.value(of: contents, key, coding))
        case .changed(let contents):
          reporting.value(of: contents, key, coding).map { .updated($0) } ?? .deleted
        }
      return { handler(event) }
    }
    store.watch(key, watcher, otherwise: contents, readAfter: erasure)
    watcher.deliver()
    return DictionarySubscription(store, key, watcher)
  }

  func stream<T>(
    _ key: String, _ coding: DictionaryCoding<T>,
    _ policy: AsyncStream<T?>.Continuation.BufferingPolicy
  ) -> AsyncStream<T?> {
    AsyncStream(T?.self, bufferingPolicy: policy) { continuation in
      let subscription = subscribe(key, coding) { news in
        switch news {
        case .initial(let value): continuation.yield(value)
        case .updated(let value): continuation.yield(value)
        case .deleted: continuation.yield(nil)
        }
      }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}

/// Subscriptions do not keep the workspace alive.
///
/// Unchecked: the reference is not written after it is made, and the runtime lets any thread read a weak one.
private struct WeakAccess: @unchecked Sendable {
  private weak var core: WorkspaceCore?
  private let store: DictionaryStore

  init(_ access: DictionaryAccess) {
    core = access.core
    store = access.store
  }

  func value<T>(
    of contents: DictionaryContents, _ key: DictionaryKey, _ coding: DictionaryCoding<T>
  ) -> T? {
    guard let core else {
      // Nobody is left to hear of an error.
      return try? coding.value(contents)
    }
    return DictionaryAccess(core: core, store: store, transaction: nil)
      .value(of: contents, key, coding)
  }
}

// MARK: Codable

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe<Element: Codable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .codable, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe<Element: Codable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .codable, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher<Element: Codable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .codable, $0) }
    }
  #endif
}

// MARK: FlatBuffersCodable

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe<Element: FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .flatBuffers, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe<Element: FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .flatBuffers, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher<Element: FlatBuffersCodable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .flatBuffers, $0) }
    }
  #endif
}

// MARK: Codable & FlatBuffersCodable

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe<Element: Codable & FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .flatBuffers, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe<Element: Codable & FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .flatBuffers, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher<Element: Codable & FlatBuffersCodable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .flatBuffers, $0) }
    }
  #endif
}

// MARK: Bool

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe(
    _ key: String, of type: Bool.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Bool>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .bool, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe(
    _ key: String, of type: Bool.Type,
    bufferingPolicy: AsyncStream<Bool?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Bool?> {
    _access.stream(key, .bool, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher(_ key: String, of type: Bool.Type) -> DictionaryValuePublisher<Bool> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .bool, $0) }
    }
  #endif
}

// MARK: Int

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe(
    _ key: String, of type: Int.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Int>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .int, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe(
    _ key: String, of type: Int.Type,
    bufferingPolicy: AsyncStream<Int?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Int?> {
    _access.stream(key, .int, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher(_ key: String, of type: Int.Type) -> DictionaryValuePublisher<Int> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .int, $0) }
    }
  #endif
}

// MARK: UInt

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe(
    _ key: String, of type: UInt.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<UInt>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .uint, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe(
    _ key: String, of type: UInt.Type,
    bufferingPolicy: AsyncStream<UInt?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<UInt?> {
    _access.stream(key, .uint, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher(_ key: String, of type: UInt.Type) -> DictionaryValuePublisher<UInt> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .uint, $0) }
    }
  #endif
}

// MARK: Float

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe(
    _ key: String, of type: Float.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Float>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .float, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe(
    _ key: String, of type: Float.Type,
    bufferingPolicy: AsyncStream<Float?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Float?> {
    _access.stream(key, .float, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher(_ key: String, of type: Float.Type) -> DictionaryValuePublisher<Float> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .float, $0) }
    }
  #endif
}

// MARK: Double

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe(
    _ key: String, of type: Double.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Double>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .double, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe(
    _ key: String, of type: Double.Type,
    bufferingPolicy: AsyncStream<Double?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Double?> {
    _access.stream(key, .double, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher(_ key: String, of type: Double.Type) -> DictionaryValuePublisher<Double> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .double, $0) }
    }
  #endif
}

// MARK: String

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  /// The first call, with `.initial`, comes before this returns. Each later one comes on the thread that has set the value, before the
  /// assignment returns, with no lock held; after a transaction, on the thread that tells how it ended. Only changes through this
  /// workspace are seen. Releasing the subscription cancels it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type reads as none.
  ///   - changeHandler: Told of the values.
  /// - Returns: The subscription, to be kept.
  public func subscribe(
    _ key: String, of type: String.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<String>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .string, changeHandler)
  }

  /// The values of a key, now and whenever it changes; nil while it has none. It never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value.
  ///   - bufferingPolicy: What is kept for a reader that is behind; the newest value, if nothing is said.
  /// - Returns: The stream. Its end cancels the subscription.
  public func subscribe(
    _ key: String, of type: String.Type,
    bufferingPolicy: AsyncStream<String?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<String?> {
    _access.stream(key, .string, bufferingPolicy)
  }

  #if canImport(Combine)
    /// The values of a key, from the first demand on; see `DictionaryValuePublisher`.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value.
    /// - Returns: The publisher.
    public func publisher(_ key: String, of type: String.Type) -> DictionaryValuePublisher<String> {
      let access = _access
      return DictionaryValuePublisher { access.subscribe(key, .string, $0) }
    }
  #endif
}
