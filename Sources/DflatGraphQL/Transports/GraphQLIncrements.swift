// From the bytes of a response to its increments.
//
// Payloads that have come together are one increment: each increment is stored by a transaction,
// which writes the lists that get longer. So the longer a transaction takes, the more of the stream
// the next one stores.

import Foundation

extension GraphQLOperation {
  /// The response as it comes, for operations with `@defer` or `@stream`.
  ///
  ///     let increments = try HeroDetailsQuery.increments(from: chunks, contentType: type)
  ///     for try await increment in increments {
  ///       try await dflat.write(Character.self) { txn in try txn.store(increment) }
  ///     }
  ///
  /// A server that does not deliver in parts answers with one payload, which is the only increment.
  /// Payloads that are complete in one piece are one increment, so that storing does not fall
  /// behind: pieces should have everything that has come since the last one was read.
  ///
  /// - Parameters:
  ///   - chunks: The body of the response, in pieces of any size. Use `map { CollectionOfOne($0) }`
  ///     for a sequence of bytes.
  ///   - contentType: The response's header field `Content-Type`.
  /// - Returns: What is known after the payloads of each piece. Iterating throws ``GraphQLDecodingError``,
  ///   ``GraphQLTransportError``, and the errors of `chunks`.
  public static func increments<Chunks: AsyncSequence>(
    from chunks: Chunks, contentType: String
  ) -> GraphQLIncrements<Data, Chunks> where Chunks.Element: Sequence<UInt8> {
    GraphQLIncrements(chunks: chunks, contentType: contentType)
  }
}

/// The increments of a response whose body arrives in pieces; see
/// ``GraphQLOperation/increments(from:contentType:)``.
public struct GraphQLIncrements<
  Data: Codable & Hashable & Sendable, Chunks: AsyncSequence
>: AsyncSequence where Chunks.Element: Sequence<UInt8> {
  /// What is known after the payloads that have come.
  public typealias Element = GraphQLIncrement<Data>

  let chunks: Chunks
  let contentType: String

  /// Creates an iterator; a body can be read once only, unless the sequence of its pieces says
  /// otherwise.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      chunks: chunks.makeAsyncIterator(),
      parser: try? GraphQLMultipartParser(contentType: contentType))
  }

  /// Reads pieces until a payload is complete.
  public struct Iterator: AsyncIteratorProtocol {
    var chunks: Chunks.AsyncIterator
    /// Nil if the body is one payload.
    var parser: GraphQLMultipartParser?
    private var decoder = GraphQLIncrementDecoder<Data>()
    /// The parts that have come and are not decoded.
    private var parts: ArraySlice<GraphQLMultipartParser.Part> = []
    /// Whether one of them cannot be decoded.
    private var hasMistake = false
    private var isFinished = false

    init(chunks: Chunks.AsyncIterator, parser: GraphQLMultipartParser?) {
      self.chunks = chunks
      self.parser = parser
    }

    /// What is known after the next payloads; nil after the last one.
    public mutating func next() async throws -> GraphQLIncrement<Data>? {
      do { return try await following() } catch {
        isFinished = true
        throw error
      }
    }

    private mutating func following() async throws -> GraphQLIncrement<Data>? {
      while !isFinished {
        if let increment = try arrived() {
          isFinished = !increment.hasNext
          return increment
        }
        guard let chunk = try await chunks.next() else {
          isFinished = true
          // A server may end the body in place of a last payload that only says that it ends.
          try parser?.finish()
          return nil
        }
        if parser == nil {
          return try await single(chunk)
        }
        parts = try parser?.append(chunk)[...] ?? []
      }
      return nil
    }

    /// What is known after the parts that have come; nil if they say nothing.
    private mutating func arrived() throws -> GraphQLIncrement<Data>? {
      if parts.count > 1, !hasMistake {
        var together = decoder
        if let increment = try? together.decode(together: parts.lazy.map(\.body)) {
          (decoder, parts) = (together, [])
          return increment
        }
        // Those before the mistake are not lost.
        hasMistake = true
      }
      while let part = parts.popFirst() {
        if let increment = try decoder.decode(part.body) { return increment }
      }
      hasMistake = false
      return nil
    }

    /// How many bytes a body that is one payload may have.
    private static var limit: Int { 1 << 28 }

    private mutating func single(_ first: Chunks.Element) async throws -> GraphQLIncrement<Data>? {
      isFinished = true
      var body = Foundation.Data(first)
      while let chunk = try await chunks.next() {
        body.append(contentsOf: chunk)
        if body.count > Self.limit {
          throw GraphQLTransportError.responseTooLarge(limit: Self.limit)
        }
      }
      return GraphQLIncrement(response: try GraphQLResponse(json: body))
    }
  }
}

extension GraphQLIncrements: Sendable where Chunks: Sendable {}
