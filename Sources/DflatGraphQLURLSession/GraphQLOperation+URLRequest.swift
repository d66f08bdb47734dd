// Operations as requests of URLSession, for programs with a session of their own.

public import DflatGraphQL
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension GraphQLOperation {
  /// A request that posts this operation as JSON.
  ///
  /// - Parameters:
  ///   - url: The service's address.
  ///   - headers: Further header fields, for example for authorization. They replace `Content-Type`
  ///     and `Accept` if they have these names.
  /// - Returns: A request for `URLSession`; it may be changed before it is sent.
  /// - Throws: `EncodingError` if a variable cannot be encoded.
  public func request(to url: URL, headers: [String: String] = [:]) throws -> URLRequest {
    try httpRequest().urlRequest(to: url, headers: headers)
  }
}

extension GraphQLHTTPRequest {
  /// The request for `URLSession`.
  ///
  /// - Parameters:
  ///   - service: The service's address.
  ///   - headers: Further header fields, which replace those of the same name.
  public func urlRequest(to service: URL, headers: [String: String] = [:]) -> URLRequest {
    var request = URLRequest(url: url(for: service))
    request.httpMethod = method.rawValue
    request.httpBody = body
    for (name, value) in self.headers { request.setValue(value, forHTTPHeaderField: name) }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }
}
