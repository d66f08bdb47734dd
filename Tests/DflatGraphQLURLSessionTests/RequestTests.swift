// Requests of URLSession, and the modules that link it.

import DflatGraphQL
import DflatGraphQLURLSession
import DflatTestSupport
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("GraphQL requests of URLSession")
struct RequestTests {
  @Test("have the method, the fields and the body; those of the call replace others")
  func requests() throws {
    let url = try #require(URL(string: "https://example.org/graphql"))
    let headers = ["Authorization": "Bearer x", "Accept": "x/y"]
    let posted = try EchoQuery("a").request(to: url, headers: headers)
    #expect(posted.httpMethod == "POST" && posted.url == url)
    #expect(posted.value(forHTTPHeaderField: "Content-Type") == "application/json")
    #expect(posted.value(forHTTPHeaderField: "Authorization") == "Bearer x")
    #expect(posted.value(forHTTPHeaderField: "Accept") == "x/y")
    #expect(posted.httpBody == (try EchoQuery("a").httpRequest().body))
    let asked = try EchoQuery("a").persistedRequest().urlRequest(to: url, headers: headers)
    #expect(asked.httpMethod == "GET" && asked.httpBody == nil)
    #expect(asked.url?.absoluteString.hasPrefix("https://example.org/graphql?extensions=") == true)
    #expect(asked.value(forHTTPHeaderField: "Accept") == "x/y")
    #expect(asked.value(forHTTPHeaderField: "GraphQL-Preflight") == "1")
  }

  @Test("have errors that say what has come, and what to do")
  func errors() throws {
    ErrorText(GraphQLClientError.status(502, body: "sorry"), "502: sorry").check()
    ErrorText(GraphQLClientError.status(401, body: ""), "401").check()
    ErrorText(GraphQLClientError.status(404, body: ""), "404").check()
    ErrorText(GraphQLClientError.status(418, body: ""), "418", isHelpless: true).check()
    ErrorText(GraphQLClientError.notGraphQL(contentType: "a/b", body: "c"), "a/b", "c").check()
    #expect(
      try publicErrorTypes(of: "DflatGraphQLURLSession") == ["\(GraphQLClientError.self)"])
  }

  #if os(Linux)
    /// Whether the linker looks for a library because of a module; nil if this build has none.
    private func links(_ module: String, _ library: String) throws -> Bool? {
      let objects = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "\(module).build")
      let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/\(module)").standardizedFileURL
      // Objects of sources that were removed stay in the folder.
      let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        .filter { $0.hasSuffix(".swift") }
        .map { "\(URL(filePath: $0).lastPathComponent).o" }
      let found = names.compactMap { try? Data(contentsOf: objects.appending(path: $0)) }
      return found.isEmpty ? nil : found.contains { $0.range(of: Data(library.utf8)) != nil }
    }

    @Test(
      "are all that links URLSession",
      arguments: ["Dflat", "DflatGraphQL", "FlatBuffersRuntime", "Platform"])
    func linking(module: String) throws {
      #expect(try links("DflatGraphQLURLSession", "-lFoundationNetworking") == true)
      #expect(try links(module, "-lFoundationNetworking") == false)
    }
  #endif
}
