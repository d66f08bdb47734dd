// From server-sent events to responses.

import Foundation

extension GraphQLOperation {
  /// The responses that a server sends as events, `text/event-stream`.
  ///
  ///     for try await response in ReviewAddedSubscription.responses(fromEvents: chunks) {
  ///       print(response)
  ///     }
  ///
  /// The sequence ends at the event `complete`. Cancelling the transport ends the operation. The
  /// protocol is GraphQL over server-sent events: responses are in events with the name `next`, and
  /// events with other names are passed over.
  ///
  /// - Parameters:
  ///   - chunks: The body of the response, in pieces of any size. Use `map { CollectionOfOne($0) }`
  ///     for a sequence of bytes.
  ///   - id: Where one connection carries several operations ("single connection mode"), what the
  ///     operation's request has as `operationId` in its extensions; see ``body(extensions:)``.
  ///     Events of other operations are passed over. Nil if the connection is this operation's own.
  /// - Returns: The responses. Iterating throws ``GraphQLDecodingError``,
  ///   ``GraphQLTransportError/interrupted`` if the stream ends without `complete`,
  ///   ``GraphQLTransportError/unexpectedMessage(_:)`` if an event with data has no name, and the
  ///   errors of `chunks`.
  public static func responses<Chunks: AsyncSequence>(
    fromEvents chunks: Chunks, id: String? = nil
  ) -> GraphQLEvents<Data, Chunks> where Chunks.Element: Sequence<UInt8> {
    GraphQLEvents(chunks: chunks, id: id)
  }
}

/// The responses in a stream of server-sent events; see
/// ``GraphQLOperation/responses(fromEvents:id:)``.
public struct GraphQLEvents<
  Data: Codable & Hashable & Sendable, Chunks: AsyncSequence
>: AsyncSequence where Chunks.Element: Sequence<UInt8> {
  /// A response.
  public typealias Element = GraphQLResponse<Data>

  let chunks: Chunks
  let id: String?

  /// Creates an iterator; a stream can be read once only, unless the sequence of its pieces says
  /// otherwise.
  public func makeAsyncIterator() -> Iterator {
    Iterator(chunks: chunks.makeAsyncIterator(), id: id)
  }

  /// Reads pieces until a response is complete.
  public struct Iterator: AsyncIteratorProtocol {
    var chunks: Chunks.AsyncIterator
    let id: String?
    private var parser = GraphQLEventParser()
    private var events: ArraySlice<GraphQLServerEvent> = []
    private var isFinished = false

    init(chunks: Chunks.AsyncIterator, id: String?) {
      self.chunks = chunks
      self.id = id
    }

    /// The next response; nil after the event `complete`.
    public mutating func next() async throws -> GraphQLResponse<Data>? {
      do { return try await following() } catch {
        isFinished = true
        throw error
      }
    }

    private mutating func following() async throws -> GraphQLResponse<Data>? {
      while !isFinished {
        if let event = events.popFirst() {
          if let response = try response(of: event) { return response }
          continue
        }
        guard let chunk = try await chunks.next() else {
          throw GraphQLTransportError.interrupted
        }
        events = try parser.append(chunk)[...]
      }
      return nil
    }

    /// The response in an event; nil if it has none.
    private mutating func response(
      of event: GraphQLServerEvent
    ) throws -> GraphQLResponse<Data>? {
      // An event without a name is a message by the HTML standard, and nothing by this protocol.
      if event.name == "message", !event.data.isEmpty {
        throw GraphQLTransportError.unexpectedMessage(
          "an event without a name, in place of 'event: next': \(event.data.prefix(200))")
      }
      guard ["next", "complete"].contains(event.name) else { return nil }
      var payload = Foundation.Data(event.data.utf8)
      if let id {
        if payload.isEmpty { return nil }
        let message = try JSONTree(payload)
        guard try message["id"]?.decode(String.self) == id else { return nil }
        payload = message["payload"]?.bytes ?? Foundation.Data()
      }
      if event.name == "complete" {
        isFinished = true
        return nil
      }
      return try GraphQLResponse(json: payload)
    }
  }
}

extension GraphQLEvents: Sendable where Chunks: Sendable {}
