// DictionaryValuePublisher: a key as a Combine publisher.

#if canImport(Combine)
  public import Combine
  import Platform

  /// The values of a dictionary's key, from the first demand on. It never completes.
  ///
  /// A subscriber that is behind gets the newest state when it asks again.
  public final class DictionaryValuePublisher<Element: Equatable & Sendable>: Publisher {
    /// What subscribers get.
    public typealias Output = SubscribedDictionaryValue<Element>
    /// There are no errors.
    public typealias Failure = Never
    typealias Handler = @Sendable (Output) -> Void

    private let subscribe: (@escaping Handler) -> any WorkspaceSubscription

    init(_ subscribe: @escaping (@escaping Handler) -> any WorkspaceSubscription) {
      self.subscribe = subscribe
    }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      subscriber.receive(subscription: Inner(subscriber, subscribe))
    }

    // Unchecked: what changes is changed under the lock.
    private final class Inner<S: Subscriber>: Subscription, @unchecked Sendable
    where S.Input == Output, S.Failure == Never {
      private let lock = Mutex(())
      private var subscriber: S?
      private let subscribe: (@escaping Handler) -> any WorkspaceSubscription
      private var subscription: (any WorkspaceSubscription)?
      private var demand = Subscribers.Demand.none
      private var hasBegun = false
      private var newest: Output?

      init(
        _ subscriber: S, _ subscribe: @escaping (@escaping Handler) -> any WorkspaceSubscription
      ) {
        self.subscriber = subscriber
        self.subscribe = subscribe
      }

      func request(_ more: Subscribers.Demand) {
        let begins = lock.withLock { _ in
          demand += more
          defer { hasBegun = true }
          return !hasBegun
        }
        if begins {
          let made = subscribe { [weak self] in self?.offer($0) }
          let isWanted = lock.withLock { _ in
            if subscriber == nil { return false }
            subscription = made
            return true
          }
          if !isWanted { made.cancel() }
        }
        flush()
      }

      func cancel() {
        let held = lock.withLock { _ in
          defer {
            subscriber = nil
            subscription = nil
            newest = nil
          }
          return (subscriber, subscription)
        }
        held.1?.cancel()
      }

      private func offer(_ value: Output) {
        lock.withLock { _ in newest = value }
        flush()
      }

      private func flush() {
        let next = lock.withLock { _ -> (S, Output)? in
          guard let subscriber, let value = newest, demand > 0 else { return nil }
          newest = nil
          demand -= 1
          return (subscriber, value)
        }
        guard let (subscriber, value) = next else { return }
        let more = subscriber.receive(value)
        if more > 0 { request(more) }
      }
    }
  }
#endif
