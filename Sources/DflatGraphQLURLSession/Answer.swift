// What a service has answered, before it is known whether it is GraphQL.

import DflatGraphQL
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Answer: Sendable {
  /// What comes before the body.
  struct Head: Sendable {
    var status = 200
    /// The header field `Content-Type`; empty if there is none.
    var contentType = ""

    var isSuccess: Bool { (200..<300).contains(status) }

    /// The type without its parameters, in lower case.
    var type: String {
      contentType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }
  }

  var head = Head()
  var body = Foundation.Data()

  /// The beginning of the body, as an error shows it.
  var beginning: String {
    String(decoding: body.prefix(1000), as: UTF8.self).prefix(200).description
  }

  /// Why a body that is no response is none; nil if it should be one.
  var problem: GraphQLClientError? {
    if !head.isSuccess { return .status(head.status, body: beginning) }
    if head.type == "application/json" || head.type.hasSuffix("+json") { return nil }
    return .notGraphQL(contentType: head.contentType, body: beginning)
  }
}

extension Answer.Head {
  init(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return }
    status = response.statusCode
    contentType = response.value(forHTTPHeaderField: "Content-Type") ?? ""
  }
}
