// Following the value of a key, with a handler or as a stream.
//
// There is one method for each group of WorkspaceDictionary+Values.swift.

// MARK: Scalars

extension WorkspaceDictionary {
  /// Calls a handler with the value of a key, now and whenever it changes.
  ///
  ///     let subscription = dflat.dictionary.subscribe("theme", of: String.self) { event in
  ///       switch event {
  ///       case .initial(let theme): apply(theme)
  ///       case .updated(let theme): apply(theme)
  ///       case .deleted: apply(nil)
  ///       }
  ///     }
  ///
  /// The first call, with `.initial`, runs on the calling thread before this returns. Each later
  /// call runs on the thread that assigns the value, before the assignment returns; for a value
  /// that a transaction has set, on the thread that completes the transaction. No lock is held
  /// during a call. Only changes through the same workspace object are seen.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - changeHandler: Receives the events.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: DictionaryScalar & Codable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .scalar, changeHandler)
  }

  /// The values of a key as a stream: the current one, and each new one; nil while the key has
  /// none.
  ///
  ///     for await theme in dflat.dictionary.subscribe("theme", of: String.self) { apply(theme) }
  ///
  /// The stream never finishes. Ending its iteration cancels the subscription.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - bufferingPolicy: Which values are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream.
  public func subscribe<Element: DictionaryScalar & Codable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .scalar, bufferingPolicy)
  }
}

// MARK: Codable

extension WorkspaceDictionary {
  /// Calls a handler with the `Codable` value of a key, now and whenever it changes.
  ///
  /// The first call runs before this returns, each later one before the assignment returns.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - changeHandler: Receives the events.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Codable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .codable, changeHandler)
  }

  /// The `Codable` values of a key as a stream: the current one, and each new one; nil while the
  /// key has none. The stream never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - bufferingPolicy: Which values are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream.
  public func subscribe<Element: Codable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .codable, bufferingPolicy)
  }
}

// MARK: FlatBuffersCodable

extension WorkspaceDictionary {
  /// Calls a handler with the FlatBuffers value of a key, now and whenever it changes.
  ///
  /// The first call runs before this returns, each later one before the assignment returns.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - changeHandler: Receives the events.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .flatBuffers, changeHandler)
  }

  /// The FlatBuffers values of a key as a stream: the current one, and each new one; nil while the
  /// key has none. The stream never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - bufferingPolicy: Which values are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream.
  public func subscribe<Element: FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .flatBuffers, bufferingPolicy)
  }
}

// MARK: Generated values, which are both

extension WorkspaceDictionary {
  /// Calls a handler with the generated value of a key, now and whenever it changes.
  ///
  /// The first call runs before this returns, each later one before the assignment returns.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - changeHandler: Receives the events.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Codable & FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    changeHandler: @escaping @Sendable (_: SubscribedDictionaryValue<Element>) -> Void
  ) -> any WorkspaceSubscription {
    _access.subscribe(key, .flatBuffers, changeHandler)
  }

  /// The generated values of a key as a stream: the current one, and each new one; nil while the
  /// key has none. The stream never finishes.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of its value. A value of another type counts as none.
  ///   - bufferingPolicy: Which values are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream.
  public func subscribe<Element: Codable & FlatBuffersCodable & Equatable & Sendable>(
    _ key: String, of type: Element.Type,
    bufferingPolicy: AsyncStream<Element?>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element?> {
    _access.stream(key, .flatBuffers, bufferingPolicy)
  }
}
