// The root of queries as an entity: lists that no object holds.

import DflatGenerator
import Foundation
import Testing

@Suite("The root of GraphQL queries as an entity")
struct RootTests {
  private static let schema = """
    type Query {
      repos(first: Int, after: String): RepoConnection!  launches(offset: Int): [Repo!]!  best: Repo  ids: Int
    }
    type Mutation { star(id: ID!): Payload }
    type Payload { repo: Repo  query: Query }
    type RepoConnection { totalCount: Int  edges: [RepoEdge]  pageInfo: PageInfo! }
    type RepoEdge { cursor: String!  node: Repo }
    type PageInfo { startCursor: String  endCursor: String  hasNextPage: Boolean!  hasPreviousPage: Boolean! }
    type Repo { id: ID!  name: String }
    """

  private static let operations = """
    query Repos($after: String) {
      repos(first: 2, after: $after) { totalCount edges { node { id name } } pageInfo { endCursor hasNextPage } }
    }
    query Launches($offset: Int) { launches(offset: $offset) { id name } best { name } }
    mutation Star { star(id: "1") { repo { name } query { best { name } } } }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    func data<O: GraphQLOperation>(_ type: O.Type, _ json: String) throws -> O.Data {
      try O.response(from: Data("{\"data\": \(json)}".utf8)).requireData()
    }
    @MainActor func write(_ body: @Sendable (WriteContext) throws -> BulkChange) throws -> Query {
      _ = try dflat.write(Query.self, Repo.self) { try body($0) }
      precondition(dflat.fetch(for: Query.self).all().count == 1)
      return dflat.find(Query.self, "Query")!
    }
    func page(_ ids: [String], _ next: Bool) -> String {
      let edges = ids.map { #"{"node": {"id": "\#($0)", "name": "n"}}"# }.joined(separator: ", ")
      return #"{"repos": {"totalCount": 9, "edges": [\#(edges)], "pageInfo": {"endCursor": "\#(ids.last!)", "hasNextPage": \#(next)}}}"#
    }
    var root = try write { try $0.store(data(ReposQuery.self, page(["a", "b"], true)), \.repos, .append) }
    precondition(root.repos?.edges.map(\.node) == ["a", "b"] && root.repos?.pageInfo?.endCursor == "b", "\(root)")
    root = try write { try $0.store(data(ReposQuery.self, page(["b", "c"], false)), \.repos, .append) }
    precondition(root.repos?.edges.map(\.node) == ["a", "b", "c"] && root.repos?.pageInfo?.hasNextPage == false, "\(root)")
    // Other operations fill other fields of the same root, wherever it is.
    root = try write {
      try $0.store(
        data(LaunchesQuery.self, #"{"launches": [{"id": "a", "name": "m"}], "best": {"id": "c", "name": "n"}}"#),
        \.launches, .append)
    }
    precondition(root.launches == ["a"] && root.best == "c" && root.repos?.edges.count == 3, "\(root)")
    root = try write {
      try $0.store(
        data(LaunchesQuery.self, #"{"launches": [{"id": "d", "name": "m"}], "best": null}"#), \.launches, .append)
    }
    precondition(root.launches == ["a", "d"] && root.best == nil && dflat.find(Repo.self, "a")!.name == "m", "\(root)")
    root = try write {
      try $0.store(
        data(StarMutation.self, #"{"star": {"repo": {"id": "b", "name": "starred"}, "query": {"best": {"id": "b", "name": "starred"}}}}"#))
    }
    precondition(root.best == "b" && dflat.find(Repo.self, "b")!.name == "starred", "\(root)")
    print("all is well")
    """####

  @Test("is one object, whose lists page")
  func stored() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations,
      "--entity Query --entity Repo --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("has the name of its type as its key, if that is a text that the service does not give")
  func keys() throws {
    func stores(_ options: String) throws -> Bool {
      let run = try GraphQL.run(Self.schema, Self.operations, "--entity Query " + options)
      #expect(run.status == 0, "\(run.errors)")
      return try #require(run.files["ReposQuery_generated.swift"]).contains("merge.add(Query.self")
    }
    #expect(try stores("--primary-key id"))
    #expect(try !stores(""))
    #expect(try !stores("--primary-key id --primary-key-type Int64"))
    // Another program may have an object of this type that does have a key.
    let own = try GraphQL.run(
      Self.schema.replacing("ids: Int", with: "id: ID!"), "{ id }",
      "--entity Query --primary-key id")
    #expect(!(own.files["Query_inits_generated.swift"] ?? "").contains("\"Query\""))
  }
}
