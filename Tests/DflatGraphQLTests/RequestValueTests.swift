// Requests as values: the body, the address and the header fields.

import DflatGraphQL
import Foundation
import Testing

@Suite("GraphQL: requests as values")
struct RequestValueTests {
  private struct UserQuery: GraphQLQuery {
    static let operationName = "User"
    static let document = "query User($name: String) { user(name: $name) { id } }"
    var variables: Variables
    struct Variables: Encodable, Hashable, Sendable { var name: String }
    typealias Data = GraphQLValue
  }

  private struct SendMutation: GraphQLMutation {
    static let operationName = "Send"
    static let document =
      "mutation Send($file: Upload, $more: More) { send(file: $file, more: $more) }"
    var variables: Variables
    struct Variables: Encodable, Hashable, Sendable {
      var file: GraphQLNullable<GraphQLUpload>
      var more: More
    }
    struct More: Encodable, Hashable, Sendable { var files: [GraphQLUpload?] }
    typealias Data = GraphQLValue
  }

  private let service = URL(string: "https://example.com/graphql?key=a%20b")!
  // printf '%s' 'query User($name: String) { user(name: $name) { id } }' | sha256sum
  private let hash = "ce17244b8b2ff30da94e4d6909bddefe3fcfcc7003644d826c493fa37e46f1eb"

  @Test("have the hash of the document in the address, by GET")
  func persisted() throws {
    #expect(UserQuery.documentHash == hash)
    let request = try UserQuery(variables: .init(name: "Ä & b+c")).persistedRequest()
    #expect(request.method == .get && request.body == nil)
    #expect(
      request.url(for: service).absoluteString
        == "https://example.com/graphql?key=a%20b&extensions=%7B%22persistedQuery%22%3A%7B%22"
        + "sha256Hash%22%3A%22\(hash)%22%2C%22version%22%3A1%7D%7D&operationName=User"
        + "&variables=%7B%22name%22%3A%22%C3%84%20%26%20b%2Bc%22%7D")
    #expect(request.headers["GraphQL-Preflight"] == "1")
    let posted = try UserQuery(variables: .init(name: "a"))
      .persistedRequest(method: .post, includesDocument: true)
    #expect(posted.url(for: service) == service)
    #expect(
      try posted.body.map { try JSONDecoder().decode(GraphQLValue.self, from: $0) }
        == (try value(
          #"""
          {"operationName": "User", "query": "query User($name: String) { user(name: $name) { id } }",
           "variables": {"name": "a"},
           "extensions": {"persistedQuery": {"version": 1, "sha256Hash": "\#(hash)"}}}
          """#)))
  }

  @Test("send the document only to a server that does not know it")
  func retry() async throws {
    let query = UserQuery(variables: .init(name: "a"))
    let missing = [
      #"{"errors": [{"message": "PersistedQueryNotFound"}]}"#,
      #"{"data": null, "errors": [{"message": "?", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}}]}"#,
    ]
    let unsupported = #"{"errors": [{"message": "PersistedQueryNotSupported"}]}"#
    let good = #"{"data": {"user": null}}"#
    for (answers, methods) in [
      ([good], ["GET"]), ([missing[0], good], ["GET", "POST"]),
      ([missing[1], good], ["GET", "POST"]),
      ([unsupported, good], ["GET", "POST"]),
    ] {
      var sent: [GraphQLHTTPRequest] = []
      let response = try await query.send { request in
        sent.append(request)
        return Data(answers[sent.count - 1].utf8)
      }
      #expect(response.data == .object(["user": .null]))
      #expect(sent.map(\.method.rawValue) == methods)
      let last = sent.last?.body.map { String(decoding: $0, as: UTF8.self) } ?? ""
      #expect(last.contains("persistedQuery") == (answers[0] != good && answers[0] != unsupported))
      #expect(last.contains("query User") == (sent.count == 2))
    }
    // Other errors are the answer.
    let refused = try await query.send { _ in Data(#"{"errors": [{"message": "no"}]}"#.utf8) }
    #expect(refused.errors.map(\.message) == ["no"])
    var methods: [GraphQLHTTPRequest.Method] = []
    _ = try await SendMutation(variables: .init(file: .null, more: .init(files: []))).send {
      methods.append($0.method)
      return Data(good.utf8)
    }
    #expect(methods == [.post])
  }

  @Test("are sent from where they are asked for, such as the main actor")
  @MainActor func mainActor() async throws {
    /// What only the main actor may use.
    @MainActor final class Model {
      var sent = 0
      func load() async throws -> GraphQLResponse<GraphQLValue> {
        try await UserQuery(variables: .init(name: "a")).send { request in
          MainActor.assertIsolated()
          sent += 1
          return Data(#"{"data": {"user": null}}"#.utf8)
        }
      }
    }
    let model = Model()
    #expect(try await model.load().errors.isEmpty && model.sent == 1)
  }

  @Test("have files in a form, with null in their places")
  func uploads() throws {
    let a = GraphQLUpload(name: "a\".txt", contentType: "text/plain", content: Data("A".utf8))
    let b = GraphQLUpload(name: "b", content: Data("dflat-form-0".utf8))
    let operation = SendMutation(
      variables: .init(file: .value(a), more: .init(files: [b, nil, a])))
    let request = try operation.httpRequest()
    #expect(request.headers["Content-Type"] == "multipart/form-data; boundary=dflat-form-1")
    #expect(request.method == .post && request.headers["GraphQL-Preflight"] == "1")
    let body = String(decoding: try #require(request.body), as: UTF8.self)
    let operations = #"""
      {"operationName":"Send","query":"\#(SendMutation.document)","variables":{"file":null,"more":{"files":[null,null,null]}}}
      """#
    let parts = [
      "Content-Disposition: form-data; name=\"operations\"\r\n\r\n\(operations)",
      "Content-Disposition: form-data; name=\"map\"\r\n\r\n"
        + #"{"0":["variables.file","variables.more.files.2"],"1":["variables.more.files.0"]}"#,
      "Content-Disposition: form-data; name=\"0\"; filename=\"a%22.txt\"\r\n"
        + "Content-Type: text/plain\r\n\r\nA",
      "Content-Disposition: form-data; name=\"1\"; filename=\"b\"\r\n"
        + "Content-Type: application/octet-stream\r\n\r\ndflat-form-0",
    ]
    #expect(
      body == parts.map { "--dflat-form-1\r\n\($0)\r\n" }.joined() + "--dflat-form-1--\r\n")
    #expect(try operation.httpRequest() == request)
  }

  @Test("without files are JSON; files are sent in no other way")
  func plain() throws {
    let without = SendMutation(variables: .init(file: .null, more: .init(files: [])))
    let request = try without.httpRequest(
      accept: .increments, extensions: ["operationId": .string("7")])
    #expect(request.headers["Content-Type"] == "application/json")
    #expect(request.headers["Accept"]?.hasPrefix("multipart/mixed;deferSpec=20220824,") == true)
    let body = try JSONDecoder().decode(GraphQLValue.self, from: try #require(request.body))
    guard case .object(let object) = body else {
      Issue.record("\(body)")
      return
    }
    #expect(object["extensions"] == .object(["operationId": .string("7")]))
    let file = GraphQLUpload(name: "a", content: Data())
    let with = SendMutation(variables: .init(file: .value(file), more: .init(files: [])))
    #expect(throws: EncodingError.self) { try with.body() }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([GraphQLUpload].self, from: Data("[1]".utf8))
    }
  }
}
