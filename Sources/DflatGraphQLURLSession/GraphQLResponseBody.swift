// GraphQLResponseBody: the pieces of a body, as they arrive.
//
// URLSession cannot be asked to wait on every system, so what is not read yet waits here, and is
// one piece when it is read. More of it than the limit ends the request.

import DflatGraphQL
public import Foundation
import Platform

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The pieces of a response's body, in order. They can be read once. A piece is everything that has
/// come since the last one was read.
///
/// Releasing the body, or cancelling the task that reads it, cancels the request.
public struct GraphQLResponseBody: AsyncSequence, Sendable {
  /// A piece.
  public typealias Element = Foundation.Data

  let events: AsyncThrowingStream<Receiver.Event, any Error>
  let receiver: Receiver

  /// Creates an iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: events.makeAsyncIterator(), receiver: receiver)
  }

  /// Reads pieces.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var events: AsyncThrowingStream<Receiver.Event, any Error>.Iterator
    fileprivate let receiver: Receiver

    /// The next piece; nil behind the last one.
    /// - Throws: `URLError`, `CancellationError`, or `GraphQLTransportError.responseTooLarge` if
    ///   more waits than the client's limit.
    public mutating func next() async throws -> Foundation.Data? {
      while case .arrival? = try await events.next() {
        // What an earlier arrival was about may have taken this one's bytes with it.
        if let piece = receiver.read() { return piece }
      }
      try Task.checkCancellation()
      return nil
    }
  }

  /// The pieces as one.
  func whole(limit: Int) async throws -> Foundation.Data {
    var whole = Foundation.Data()
    for try await piece in self {
      whole += piece
      if whole.count > limit { throw GraphQLTransportError.responseTooLarge(limit: limit) }
    }
    return whole
  }
}

extension GraphQLResponseBody {
  /// A body that is there.
  init(_ whole: Foundation.Data) {
    let (events, continuation) = AsyncThrowingStream<Receiver.Event, any Error>.makeStream()
    let receiver = Receiver(continuation, limit: .max)
    _ = receiver.add(whole)
    receiver.end(nil)
    self.init(events: events, receiver: receiver)
  }
}

/// What a request receives.
final class Receiver: Sendable {
  enum Event: Sendable {
    case head(Answer.Head)
    /// A part of the body, which waits to be read.
    case arrival
  }

  private let continuation: AsyncThrowingStream<Event, any Error>.Continuation
  private let limit: Int
  /// What waits to be read.
  private let unread = Mutex(Foundation.Data())

  init(_ continuation: AsyncThrowingStream<Event, any Error>.Continuation, limit: Int) {
    self.continuation = continuation
    self.limit = limit
  }

  func begin(_ head: Answer.Head) { continuation.yield(.head(head)) }

  /// Adds a part of the body; false if too much waits already.
  func add(_ part: Foundation.Data) -> Bool {
    let fits = unread.withLock { unread in
      let fits = part.count <= limit - unread.count
      if fits { unread += part }
      return fits
    }
    if fits {
      continuation.yield(.arrival)
    } else {
      end(GraphQLTransportError.responseTooLarge(limit: limit))
    }
    return fits
  }

  /// Everything that waits; nil if nothing does.
  func read() -> Foundation.Data? {
    unread.withLock { unread in
      if unread.isEmpty { return nil }
      defer { unread = Foundation.Data() }
      return unread
    }
  }

  /// A request is cancelled together with the task that waits for it, and may be the first to end.
  func end(_ error: (any Error)?) {
    let isCancellation = (error as? URLError)?.code == .cancelled
    continuation.finish(throwing: isCancellation ? CancellationError() : error)
  }
}

/// The delegate of a session: hands what arrives to the request that it is for.
final class Receivers: NSObject, URLSessionDataDelegate {
  private let receivers = Mutex<[Int: Receiver]>([:])

  /// Starts a request, and waits for the beginning of its answer.
  func start(
    _ task: URLSessionDataTask, limit: Int
  ) async throws -> (Answer.Head, GraphQLResponseBody) {
    let (stream, continuation) = AsyncThrowingStream<Receiver.Event, any Error>.makeStream()
    let receiver = Receiver(continuation, limit: limit)
    let number = task.taskIdentifier
    receivers.withLock { $0[number] = receiver }
    continuation.onTermination = { reason in
      if case .cancelled = reason { task.cancel() }
    }
    task.resume()
    var events = stream.makeAsyncIterator()
    guard case .head(let head)? = try await events.next() else {
      try Task.checkCancellation()
      throw URLError(.badServerResponse)
    }
    return (head, GraphQLResponseBody(events: stream, receiver: receiver))
  }

  // MARK: URLSessionDataDelegate

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    receivers.withLock { $0[dataTask.taskIdentifier] }?.begin(Answer.Head(response))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let receiver = receivers.withLock({ $0[dataTask.taskIdentifier] }) else { return }
    if !receiver.add(data) { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    receivers.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }
}
