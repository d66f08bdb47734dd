// The request that carries an operation over HTTP. Nothing else in this library knows HTTP.

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
  /// - Throws: The errors of ``body()``.
  public func request(to url: URL, headers: [String: String] = [:]) throws -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = try body()
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue(
      "application/graphql-response+json, application/json", forHTTPHeaderField: "Accept")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }
}
