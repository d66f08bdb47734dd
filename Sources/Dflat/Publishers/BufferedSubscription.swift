// BufferedSubscription: connects a DemandBuffer with a Combine subscriber.

#if canImport(Combine)
  import Combine
  import Platform
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
      // The buffer calls it on one thread at a time.
      let receiver = Confined<Receiver<Value>>(shared: SubscriberReceiver(subscriber))
      let buffer = DemandBuffer<Value>(
        receive: { value in DemandBuffer.Demand(receiver.withValue { $0.receive(value) }) },
        finish: { receiver.withValue { $0.finish() } }, start: start)
      subscriber.receive(subscription: BufferedSubscription(buffer))
    }

    func request(_ demand: Subscribers.Demand) {
      buffer.request(DemandBuffer.Demand(demand))
    }

    func cancel() { buffer.cancel() }
  }

  /// A type-erased subscriber: a `@Sendable` closure cannot capture the subscriber's type.
  private class Receiver<Value> {
    func receive(_ value: Value) -> Subscribers.Demand { .none }
    func finish() {}
  }

  private final class SubscriberReceiver<S: Subscriber>: Receiver<S.Input>
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
