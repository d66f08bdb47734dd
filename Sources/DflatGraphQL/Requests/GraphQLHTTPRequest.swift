// GraphQLHTTPRequest: an operation as a value that any HTTP client can send.

public import Foundation

/// What is sent to ask a service: method, query of the address, header fields and body.
public struct GraphQLHTTPRequest: Hashable, Sendable {
  /// How the operation is sent.
  public enum Method: String, Hashable, Sendable {
    /// In the address, so that servers between can keep the answer. For queries only.
    case get = "GET"
    /// In the body.
    case post = "POST"
  }

  /// How the operation is sent.
  public var method: Method
  /// What the address has behind its question mark, in order; empty for `POST`.
  public var parameters: [String: String]
  /// The header fields.
  public var headers: [String: String]
  /// The body; nil for `GET`.
  public var body: Foundation.Data?

  /// Creates a request from its parts.
  public init(
    method: Method = .post, parameters: [String: String] = [:], headers: [String: String] = [:],
    body: Foundation.Data? = nil
  ) {
    self.method = method
    self.parameters = parameters
    self.headers = headers
    self.body = body
  }

  /// The address of the request: that of the service, with the parameters in the order of their
  /// names, behind those that it has already.
  public func url(for service: URL) -> URL {
    if parameters.isEmpty { return service }
    // Everything but letters, digits and these is written by its bytes: `+` is a blank to servers.
    var plain = CharacterSet(charactersIn: "-._~")
    plain.insert(charactersIn: "a"..."z")
    plain.insert(charactersIn: "A"..."Z")
    plain.insert(charactersIn: "0"..."9")
    let query = parameters.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: plain) ?? "")"
    }.joined(separator: "&")
    guard var components = URLComponents(url: service, resolvingAgainstBaseURL: true) else {
      return service
    }
    let own = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 + "&" } ?? ""
    components.percentEncodedQuery = own + query
    return components.url ?? service
  }

  /// The types of answers.
  public enum Accept: String, Hashable, Sendable {
    /// One response.
    case response = "application/graphql-response+json, application/json"
    /// A response in parts, for `@defer` and `@stream`.
    case increments =
      "multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json"
    /// Server-sent events, for subscriptions.
    case events = "text/event-stream"
  }
}

extension GraphQLOperation {
  /// This operation as a request, which any HTTP client can send.
  ///
  /// - Parameters:
  ///   - accept: The type of the answer.
  ///   - extensions: What else the server receives, under `extensions`.
  /// - Returns: A `POST` with the body of ``body(extensions:)``; or, if there are variables of type
  ///   ``GraphQLUpload``, with the files in `multipart/form-data`, by the GraphQL multipart request
  ///   specification.
  /// - Throws: `EncodingError` if a variable cannot be encoded.
  public func httpRequest(
    accept: GraphQLHTTPRequest.Accept = .response, extensions: [String: GraphQLValue] = [:]
  ) throws -> GraphQLHTTPRequest {
    let uploads = UploadCollector()
    let body = try body(extensions, document: Self.document, uploads: uploads)
    var request = GraphQLHTTPRequest(
      headers: ["Accept": accept.rawValue, "Content-Type": "application/json"], body: body)
    if let form = try uploads.form(operations: body) {
      request.body = form.body
      request.headers["Content-Type"] = form.contentType
      // Servers refuse forms without such a field: a page of another site cannot set it.
      request.headers["GraphQL-Preflight"] = "1"
      request.headers["Apollo-Require-Preflight"] = "true"
    }
    return request
  }

  /// The JSON object that asks a server for this operation, with `extensions`.
  ///
  /// - Parameter extensions: What else the server receives, for example `operationId` for
  ///   subscriptions that share one stream of server-sent events.
  /// - Throws: `EncodingError` if a variable cannot be encoded.
  public func body(extensions: [String: GraphQLValue]) throws -> Foundation.Data {
    try body(extensions, document: Self.document, uploads: nil)
  }

  /// - Parameter document: Nil if the server knows it.
  func body(
    _ extensions: [String: GraphQLValue], document: String?, uploads: UploadCollector?
  ) throws -> Foundation.Data {
    let encoder = JSONEncoder.graphQL
    if let uploads { encoder.userInfo[UploadCollector.key] = uploads }
    return try encoder.encode(
      RequestBody(
        operationName: Self.operationName, query: document, variables: variables,
        extensions: extensions.isEmpty ? nil : extensions))
  }
}

private struct RequestBody<Variables: Encodable>: Encodable {
  let operationName: String
  let query: String?
  let variables: Variables
  let extensions: [String: GraphQLValue]?
}
