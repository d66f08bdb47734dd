// BufferedSubscription: connects a DemandBuffer with a Combine subscriber.

#if canImport(Combine)
  import Combine
  #if os(Linux)
    import Dflat
  #endif

  /// The subscription that a subscriber receives: it passes the subscriber's demand on to a buffer.
  final class BufferedSubscription<Value: Sendable>: Subscription {
    private let buffer: DemandBuffer<Value>

    private init(_ buffer: DemandBuffer<Value>) { self.buffer = buffer }

    static func attach<S: Subscriber>(
      _ subscriber: S,
      _ start: @escaping @Sendable (DemandBuffer<Value>) -> (any WorkspaceSubscription)?
    ) where S.Input == Value, S.Failure == Never {
      let receiver: Receiver<Value> = SubscriberReceiver(subscriber)
      let buffer = DemandBuffer<Value>(
        receive: { DemandBuffer.Demand(receiver.receive($0)) }, finish: { receiver.finish() },
        start: start)
      subscriber.receive(subscription: BufferedSubscription(buffer))
    }

    func request(_ demand: Subscribers.Demand) {
      buffer.request(DemandBuffer.Demand(demand))
    }

    func cancel() { buffer.cancel() }
  }

  /// A type-erased subscriber: a `@Sendable` closure cannot capture the subscriber's type.
  ///
  /// Unchecked: the buffer calls it on one thread at a time.
  private class Receiver<Value>: @unchecked Sendable {
    func receive(_ value: Value) -> Subscribers.Demand { .none }
    func finish() {}
  }

  /// Unchecked as `Receiver` is.
  private final class SubscriberReceiver<S: Subscriber>: Receiver<S.Input>, @unchecked Sendable
  where S.Failure == Never {
    private let subscriber: S

    init(_ subscriber: S) { self.subscriber = subscriber }

    override func receive(_ value: S.Input) -> Subscribers.Demand { subscriber.receive(value) }

    override func finish() { subscriber.receive(completion: .finished) }
  }

  extension DemandBuffer.Demand {
    fileprivate init(_ demand: Subscribers.Demand) {
      self = demand.max.map { .atMost($0) } ?? .unlimited
    }
  }
#endif
