// A stand-in for Apple's Combine: as much of it as Dflat's publishers and their tests use, for
// tests on systems that have none.

/// Something that can be cancelled.
public protocol Cancellable {
  /// Ends it.
  func cancel()
}

/// What a subscriber asks through.
public protocol Subscription: Cancellable {
  /// Asks for more values.
  func request(_ demand: Subscribers.Demand)
}

/// Receives values.
public protocol Subscriber<Input, Failure> {
  /// The type of the values.
  associatedtype Input
  /// The type of the error that may end them.
  associatedtype Failure: Error

  /// Called once, before anything else.
  func receive(subscription: any Subscription)
  /// Called with each value.
  /// - Returns: How many more are wanted.
  func receive(_ input: Input) -> Subscribers.Demand
  /// Called when there are no more values.
  func receive(completion: Subscribers.Completion<Failure>)
}

/// Sends values to its subscribers.
public protocol Publisher<Output, Failure> {
  /// The type of the values.
  associatedtype Output
  /// The type of the error that may end them.
  associatedtype Failure: Error

  /// Attaches a subscriber.
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

extension Publisher {
  /// Attaches a subscriber.
  public func subscribe<S: Subscriber>(_ subscriber: S)
  where S.Input == Output, S.Failure == Failure {
    receive(subscriber: subscriber)
  }
}

/// What subscribers say and hear.
public enum Subscribers {
  /// A number of values.
  public struct Demand: Equatable, Sendable {
    /// The number; nil if it is not limited.
    public let max: Int?

    /// Any number.
    public static let unlimited = Demand(max: nil)
    /// No value.
    public static let none = Demand(max: 0)

    /// This many.
    public static func max(_ value: Int) -> Demand { Demand(max: value) }
  }

  /// How the values have ended.
  public enum Completion<Failure: Error> {
    /// There are no more.
    case finished
    /// An error has ended them.
    case failure(Failure)
  }
}

extension Subscribers.Completion: Sendable where Failure: Sendable {}
