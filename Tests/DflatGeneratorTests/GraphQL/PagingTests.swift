// Lists of responses that page: pages are added to what is stored, each element once.

import Foundation
import Testing

@Suite("Stored lists that page")
struct PagingTests {
  private static let schema = """
    type User {
      id: ID!  name: String  repos(first: Int, after: String, before: String): RepoConnection
      starred(offset: Int): [Repo!]!  items: [Item]  images: [Image]  profile: Profile!
    }
    type Profile { follows: [User]  notes: [Item!] }
    type RepoConnection { totalCount: Int  nodes: [Repo]  edges: [RepoEdge]  pageInfo: PageInfo! }
    type RepoEdge { cursor: String!  node: Repo }
    type PageInfo { startCursor: String  endCursor: String  hasNextPage: Boolean!  hasPreviousPage: Boolean! }
    type Repo { id: ID!  name: String  issues: [Issue]  team: Team }
    type Issue { id: ID!  title: String }
    union Team = User | Group
    type Group { id: ID!  size: Int }
    interface Item { id: ID!  title: String }
    type Post implements Item { id: ID!  title: String  text: String }
    type Poll implements Item { id: ID!  title: String  votes: Int }
    type Image { small: String }
    type Query { user: User!  users: [User]! }
    """

  private static let operations = """
    query Repos { user { id repos(first: 2) {
      totalCount edges { cursor node { id name } }
      pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }
    query Nodes { user { id mine: repos(first: 2) {
      items: nodes { id } info: pageInfo { first: startCursor last: endCursor hasPreviousPage hasNextPage } } } }
    query Count { user { id repos { totalCount } } }
    query Starred { user { id starred(offset: 2) { id name } name } }
    query Items { user { id items { id title ... on Poll { votes } } images { small } } }
    query Profile { user { id profile { follows { id } notes { id title } } } }
    query Issues { users { id starred { id issues { id title } team { ... on Group { id size } ... on User { id starred { id } } } } } }
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
    @MainActor func write(_ body: @Sendable (WriteContext) throws -> BulkChange) throws -> User {
      _ = try dflat.write(User.self, Repo.self, Issue.self) { try body($0) }
      return dflat.find(User.self, "1")!
    }
    func page(_ ids: [String], _ start: String, _ end: String, _ previous: Bool, _ next: Bool) -> String {
      let edges = ids.map { #"{"cursor": "c\#($0)", "node": {"id": "\#($0)", "name": "n\#($0)"}}"# }
      return #"""
        {"user": {"id": "1", "repos": {"totalCount": 9, "edges": [\#(edges.joined(separator: ", "))],
          "pageInfo": {"startCursor": "\#(start)", "endCursor": "\#(end)",
          "hasPreviousPage": \#(previous), "hasNextPage": \#(next)}}}}
        """#
    }
    func info(_ start: String, _ end: String, _ previous: Bool, _ next: Bool) -> User.PageInfo {
      User.PageInfo(endCursor: end, hasNextPage: next, hasPreviousPage: previous, startCursor: start)
    }

    // The first page is the whole list, also if it is said to be added.
    var user = try write { try $0.store(data(ReposQuery.self, page(["c", "d"], "c", "d", true, true)), \.user.repos, .append) }
    precondition(user.repos?.edges.map(\.node) == ["c", "d"], "\(user)")
    precondition(user.repos?.pageInfo == info("c", "d", true, true), "\(user)")
    // Each element is there once, in order, and both ends are what the pages there have said.
    user = try write { try $0.store(data(ReposQuery.self, page(["d", "e"], "d", "e", true, false)), \.user.repos, .append) }
    precondition(user.repos?.edges.map(\.node) == ["c", "d", "e"], "\(user)")
    precondition(user.repos?.pageInfo == info("c", "e", true, false), "\(user)")
    user = try write { try $0.store(data(ReposQuery.self, page(["a", "b", "c"], "a", "c", false, true)), \.user.repos, .prepend) }
    precondition(user.repos?.edges.map(\.node) == ["a", "b", "c", "d", "e"], "\(user)")
    precondition(user.repos?.edges.map(\.cursor) == ["ca", "cb", "cc", "cd", "ce"], "\(user)")
    precondition(user.repos?.pageInfo == info("a", "e", false, false), "\(user)")
    // Other fields of the connection stay.
    user = try write { try $0.store(data(CountQuery.self, #"{"user": {"id": "1", "repos": {"totalCount": 5}}}"#)) }
    precondition(user.repos?.edges.count == 5 && user.repos?.totalCount == 5, "\(user)")
    // An element that is stored keeps its place, and what is new about it is stored.
    user = try write {
      try $0.store(data(ReposQuery.self, #"""
        {"user": {"id": "1", "repos": {"totalCount": null, "edges": [null,
          {"cursor": "new", "node": {"id": "b", "name": null}}, {"cursor": "x", "node": {"id": "f", "name": "n"}},
          {"cursor": "y", "node": {"id": "f", "name": "m"}}],
          "pageInfo": {"startCursor": null, "endCursor": null, "hasPreviousPage": true, "hasNextPage": true}}}}
        """#), \.user.repos, .append)
    }
    precondition(user.repos?.edges.map(\.node) == ["a", "b", "c", "d", "e", "f"], "\(user)")
    precondition(user.repos?.edges.map(\.cursor) == ["ca", "new", "cc", "cd", "ce", "y"], "\(user)")
    precondition(dflat.find(Repo.self, "b")!.name == nil && dflat.find(Repo.self, "f")!.name == "m")
    precondition(user.repos?.pageInfo == .init(hasNextPage: true, startCursor: "a"), "\(user)")
    // Without a word about pages, a list is replaced, with what is said about its ends.
    user = try write { try $0.store(data(ReposQuery.self, page(["z"], "z", "z", true, true)), \.user.repos, .replace) }
    precondition(user.repos?.edges.map(\.node) == ["z"] && user.repos?.pageInfo == info("z", "z", true, true))
    user = try write { try $0.store(data(ReposQuery.self, page(["y"], "y", "y", false, true))) }
    precondition(user.repos?.edges.map(\.node) == ["y"] && user.repos?.pageInfo == info("y", "y", false, true))
    // After an empty page, the next one has both ends.
    user = try write { try $0.store(data(ReposQuery.self, page([], "", "", false, false))) }
    user = try write { try $0.store(data(ReposQuery.self, page(["x"], "s", "e", true, true)), \.user.repos, .append) }
    precondition(user.repos?.pageInfo == info("s", "e", true, true), "\(user)")
    // Null clears.
    user = try write { try $0.store(data(ReposQuery.self, #"{"user": {"id": "1", "repos": null}}"#), \.user.repos, .append) }
    precondition(user.repos == nil)

    // Aliases.
    func mine(_ id: String) -> String {
      #"""
      {"user": {"id": "1", "mine": {"items": [{"id": "\#(id)"}], "info":
        {"first": "\#(id)", "last": "\#(id)", "hasPreviousPage": true, "hasNextPage": true}}}}
      """#
    }
    for id in ["k", "l"] { user = try write { try $0.store(data(NodesQuery.self, mine(id)), \.user.mine, .append) } }
    user = try write { try $0.store(data(NodesQuery.self, mine("j")), \.user.mine, .prepend) }
    precondition(user.repos?.nodes == ["j", "k", "l"] && user.repos?.pageInfo == info("j", "l", true, true))
    // The list alone.
    user = try write { try $0.store(data(NodesQuery.self, mine("m")), \.user.mine.items, .append) }
    precondition(user.repos?.nodes == ["j", "k", "l", "m"] && user.repos?.pageInfo == info("m", "m", true, true))

    // Offsets: references, and embedded objects with keys.
    func starred(_ ids: String...) -> String {
      let list = ids.map { #"{"id": "\#($0)", "name": null}"# }.joined(separator: ", ")
      return #"{"user": {"id": "1", "starred": [\#(list)], "name": "U"}}"#
    }
    user = try write { try $0.store(data(StarredQuery.self, starred("a", "b")), \.user.starred, .append) }
    user = try write { try $0.store(data(StarredQuery.self, starred("c", "b", "c")), \.user.starred, .append) }
    precondition(user.starred == ["a", "b", "c"] && user.name == "U", "\(user)")
    // Any part of the data.
    user = try write { try $0.store(data(StarredQuery.self, starred("0")).user, \.starred, .prepend) }
    precondition(user.starred == ["0", "a", "b", "c"], "\(user)")

    try dflat.write(User.self) { txn in
      let items: [User.Item] = [
        .init(id: "5", subtype: .post(.init(title: "T"))), .init(id: "6", subtype: .poll(.init(title: "P", votes: 1))),
      ]
      try txn.upsert(User(id: "1", items: items, profile: .init(notes: items)))
    }
    user = try write {
      try $0.store(data(ItemsQuery.self, #"""
        {"user": {"id": "1", "images": [{"small": "s"}], "items": [
          {"__typename": "Poll", "id": "7", "title": "new", "votes": 2}, {"__typename": "Poll", "id": "6", "title": "Q", "votes": 3}]}}
        """#), \.user.items, .append)
    }
    precondition(user.items.map(\.id) == ["5", "6", "7"] && user.images.count == 1, "\(user)")
    precondition(user.items[1].subtype == .poll(.init(title: "Q", votes: 3)), "\(user)")

    // Several lists at a time, in an object without a key.
    user = try write {
      try $0.store(data(ProfileQuery.self, #"""
        {"user": {"id": "1", "profile": {"follows": [{"id": "2"}, {"id": "3"}],
          "notes": [{"__typename": "Post", "id": "4", "title": "N"}]}}}
        """#), pages: [.append(\.user.profile.follows), .prepend(\.user.profile.notes)])
    }
    precondition(user.profile?.follows == ["2", "3"] && user.profile?.notes.map(\.id) == ["4", "5", "6"], "\(user)")

    // A list in the elements of lists, and below a condition on the type.
    func issues(_ id: String) -> String {
      #"""
      {"users": [null, {"id": "1", "starred": [
        {"id": "a", "issues": [{"id": "\#(id)", "title": null}], "team": {"__typename": "User", "id": "8", "starred": [{"id": "\#(id)"}]}},
        {"id": "b", "issues": [{"id": "\#(id)b", "title": null}], "team": {"__typename": "Group", "id": "g", "size": 1}}]}]}
      """#
    }
    for id in ["1", "2"] {
      user = try write {
        try $0.store(data(IssuesQuery.self, issues(id)), pages: [.append(\.users.starred.issues), .prepend(\.users.starred.team.asUser.starred)])
      }
    }
    precondition(dflat.find(Repo.self, "a")!.issues == ["1", "2"] && dflat.find(Repo.self, "b")!.issues == ["1b", "2b"])
    precondition(dflat.find(User.self, "8")!.starred == ["2", "1"] && user.starred == ["a", "b"])
    print("all is well")
    """####

  private static let options =
    "--entity User --entity Repo --entity Issue --primary-key id"

  @Test("get pages at both ends, each element once, with what pageInfo says")
  func pages() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations, Self.options)
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("are the only paths that compile")
  func wrongPaths() throws {
    let run = try GraphQL.run(Self.schema, Self.operations, Self.options)
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    func complaints(_ path: String) throws -> String {
      try withTemporaryDirectory { directory in
        for (name, text) in run.files {
          try GraphQL.write(text, to: directory.appending(path: name))
        }
        for name in run.files.keys where name.hasSuffix(".fbs") {
          try generate(directory.appending(path: name), into: directory)
        }
        try GraphQL.write(
          """
          import Dflat
          import DflatGraphQL
          func add(_ txn: WriteContext, _ data: ItemsQuery.Data) throws {
            try txn.store(data, \(path), .append)
          }
          """, to: directory.appending(path: "add.swift"))
        return try Judge.complaints(about: directory, .swift6)
      }
    }
    #expect(try complaints(#"\.user.items"#) == "")
    // A list without keys, an object, a leaf, and a list that is in no entity.
    for path in [#"\.user.images"#, #"\.user"#, #"\.user.id"#, #"\.users"#] {
      #expect(try complaints(path).contains("error: "), "\(path)")
    }
  }
}
