// GraphQLResponseBody: the pieces of a body, as they arrive.
//
// URLSession cannot be asked to wait on every system, so what is not read yet waits here. More of
// it than the limit ends the request.

import DflatGraphQL
public import Foundation
import Platform

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The pieces of a response's body, in order. They can be read once.
///
/// Releasing the body, or cancelling the task that reads it, cancels the request.
public struct GraphQLResponseBody: AsyncSequence, Sendable {
  /// A piece.
  public typealias Element = Foundation.Data

  fileprivate let pieces: AsyncThrowingStream<Receiver.Event, any Error>
  fileprivate let receiver: Receiver?

  /// Creates an iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pieces: pieces.makeAsyncIterator(), receiver: receiver)
  }

  /// Reads pieces.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var pieces: AsyncThrowingStream<Receiver.Event, any Error>.Iterator
    fileprivate let receiver: Receiver?

    /// The next piece; nil behind the last one.
    /// - Throws: `URLError`, `CancellationError`, or `GraphQLTransportError.responseTooLarge` if
    ///   more waits than the client's limit.
    public mutating func next() async throws -> Foundation.Data? {
      guard case .piece(let piece)? = try await pieces.next() else {
        try Task.checkCancellation()
        return nil
      }
      receiver?.didRead(piece.count)
      return piece
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
    let (pieces, continuation) = AsyncThrowingStream<Receiver.Event, any Error>.makeStream()
    continuation.yield(.piece(whole))
    continuation.finish()
    self.init(pieces: pieces, receiver: nil)
  }
}

/// What a request receives.
private final class Receiver: Sendable {
  enum Event: Sendable {
    case head(Answer.Head)
    case piece(Foundation.Data)
  }

  private let continuation: AsyncThrowingStream<Event, any Error>.Continuation
  private let limit: Int
  /// How many bytes wait to be read.
  private let unread = Mutex(0)

  init(_ continuation: AsyncThrowingStream<Event, any Error>.Continuation, limit: Int) {
    self.continuation = continuation
    self.limit = limit
  }

  func begin(_ head: Answer.Head) { continuation.yield(.head(head)) }

  /// Adds a piece; false if too much waits already.
  func add(_ piece: Foundation.Data) -> Bool {
    let waiting = unread.withLock { unread in
      unread += piece.count
      return unread
    }
    if waiting > limit {
      end(GraphQLTransportError.responseTooLarge(limit: limit))
      return false
    }
    continuation.yield(.piece(piece))
    return true
  }

  func didRead(_ count: Int) { unread.withLock { $0 -= count } }

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
    return (head, GraphQLResponseBody(pieces: stream, receiver: receiver))
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
