// Persisted queries: the server knows documents by their hashes, and is sent those that it lacks.

public import Foundation
import Platform

extension GraphQLOperation {
  /// The SHA-256 of the document, by which servers know it: 64 hexadecimal digits.
  public static var documentHash: String { SHA256.hexadecimal(document) }

  /// This operation as a request with the hash of its document, `extensions.persistedQuery`.
  ///
  /// - Parameters:
  ///   - method: `GET` lets servers between keep the answer.
  ///   - includesDocument: Whether the document is sent, too, so that the server learns it.
  ///   - accept: The type of the answer.
  /// - Returns: The request. ``send(method:isolation:_:)`` does both steps.
  /// - Throws: `EncodingError` if a variable cannot be encoded.
  public func persistedRequest(
    method: GraphQLHTTPRequest.Method = .get, includesDocument: Bool = false,
    accept: GraphQLHTTPRequest.Accept = .response
  ) throws -> GraphQLHTTPRequest {
    let extensions: [String: GraphQLValue] = [
      "persistedQuery": .object(["version": .int(1), "sha256Hash": .string(Self.documentHash)])
    ]
    let document = includesDocument ? Self.document : nil
    guard method == .get else {
      return GraphQLHTTPRequest(
        headers: ["Accept": accept.rawValue, "Content-Type": "application/json"],
        body: try body(extensions, document: document, uploads: nil))
    }
    var parameters = [
      "extensions": String(graphQL: GraphQLValue.object(extensions)),
      "operationName": Self.operationName,
      "variables": String(decoding: try JSONEncoder.graphQL.encode(variables), as: UTF8.self),
    ]
    parameters["query"] = document
    return GraphQLHTTPRequest(
      method: .get, parameters: parameters,
      // Servers refuse a GET that a page of another site could send.
      headers: [
        "Accept": accept.rawValue, "GraphQL-Preflight": "1", "Apollo-Require-Preflight": "true",
      ])
  }

  /// Sends the hash of the document, and the document only if the server does not know it.
  ///
  ///     let response = try await HeroDetailsQuery().send { request in
  ///       try await transport.bodyOfAnswer(to: request)
  ///     }
  ///
  /// - Parameters:
  ///   - method: How the hash is sent; a document is posted. A mutation is always posted.
  ///   - isolation: The actor of the caller, on which `send` runs.
  ///   - send: Sends a request and returns the body of the answer, whatever its status is.
  /// - Returns: The response.
  /// - Throws: ``GraphQLDecodingError``, `EncodingError`, and the errors of `send`.
  public func send(
    method: GraphQLHTTPRequest.Method = .get, isolation: isolated (any Actor)? = #isolation,
    _ send: (GraphQLHTTPRequest) async throws -> Foundation.Data
  ) async throws -> GraphQLResponse<Data> {
    let method = self is any GraphQLMutation ? .post : method
    let answer = try await send(persistedRequest(method: method))
    // A refusal may lack what the data must have, so only its errors are read.
    let errors = (try? JSONDecoder.graphQL.decode(Refusal.self, from: answer))?.errors ?? []
    if errors.contains(where: { $0.says("PersistedQueryNotSupported") }) {
      return try Self.response(from: try await send(httpRequest()))
    }
    guard errors.contains(where: { $0.says("PersistedQueryNotFound") }) else {
      return try Self.response(from: answer)
    }
    return try Self.response(
      from: try await send(persistedRequest(method: .post, includesDocument: true)))
  }
}

private struct Refusal: Decodable {
  let errors: [GraphQLError]?
}

extension GraphQLError {
  /// Whether this is an error of persisted queries, by its message or by its code.
  fileprivate func says(_ message: String) -> Bool {
    let code =
      message.replacing(/([a-z])([A-Z])/) { "\($0.output.1)_\($0.output.2)" }.uppercased()
    return self.message == message || extensions["code"] == .string(code)
  }
}
