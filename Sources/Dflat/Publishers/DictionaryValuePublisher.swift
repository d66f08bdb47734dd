// DictionaryValuePublisher: a key of a dictionary as a Combine publisher.

#if canImport(Combine)
  public import Combine
  #if os(Linux)
    public import Dflat
  #endif

  /// Publishes the values of a key; never completes.
  ///
  /// The subscription to the workspace begins at the first demand, with `.initial`. A subscriber
  /// that is behind gets the newest state when it requests more.
  public final class DictionaryValuePublisher<Element: Equatable & Sendable>: Publisher, Sendable {
    /// The current value at first, and the new value after each change.
    public typealias Output = SubscribedDictionaryValue<Element>
    /// The publisher never fails.
    public typealias Failure = Never
    private let source: DictionaryValueSource<Element>

    init(_ access: DictionaryAccess, _ key: String, _ coding: DictionaryCoding<Element>) {
      source = DictionaryValueSource(access, key, coding)
    }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == Never {
      BufferedSubscription.attach(subscriber) { [source] in source.start($0) }
    }
  }

  extension WorkspaceDictionary {
    /// Publishes the values of a key: the current one at the first demand, and then each new one.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value. A value of another type counts as none.
    public func publisher<Element: DictionaryScalar & Codable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      DictionaryValuePublisher(_access, key, .scalar)
    }

    /// Publishes the `Codable` values of a key: the current one at the first demand, and then each
    /// new one.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value. A value of another type counts as none.
    public func publisher<Element: Codable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      DictionaryValuePublisher(_access, key, .codable)
    }

    /// Publishes the FlatBuffers values of a key: the current one at the first demand, and then
    /// each new one.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value. A value of another type counts as none.
    public func publisher<Element: FlatBuffersCodable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      DictionaryValuePublisher(_access, key, .flatBuffers)
    }

    /// Publishes the generated values of a key: the current one at the first demand, and then each
    /// new one.
    /// - Parameters:
    ///   - key: The key.
    ///   - type: The type of its value. A value of another type counts as none.
    public func publisher<Element: Codable & FlatBuffersCodable & Equatable & Sendable>(
      _ key: String, of type: Element.Type
    ) -> DictionaryValuePublisher<Element> {
      DictionaryValuePublisher(_access, key, .flatBuffers)
    }
  }
#endif
