// Responses with errors in some of their fields: what has failed leaves what is stored.

import Foundation
import Testing

@Suite("Stored responses with errors")
struct PartialDataTests {
  private static let schema = """
    type User {
      id: ID!  name: String  age: Int  best: User  avatar: Image  friends: [User]  fans: [User!]
      images: [Image]  items: [Item]  pinned: Item  tags: [String]  grid: [[Int]]  repos: Repos
    }
    type Image { small: String  large: String  size: Size }
    type Size { width: Int!  height: Int }
    interface Item { id: ID!  title: String }
    type Post implements Item { id: ID!  title: String  text: String }
    type Poll implements Item { id: ID!  title: String  votes: Int }
    type Repos { totalCount: Int  nodes: [User]  edges: [Edge]  pageInfo: PageInfo }
    type Edge { cursor: String  node: User }
    type PageInfo { startCursor: String  endCursor: String  hasNextPage: Boolean  hasPreviousPage: Boolean }
    type Query { user: User }
    """

  private static let operations = """
    query One { user { id name age best { id name } avatar { small size { width } } friends { id age }
      images { small size { height } } items { id title ... on Post { text } } tags grid
      repos { totalCount edges { cursor node { id name } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }
    query Two { user { id nick: name avatar { large size { width height } } pals: friends { id name } fans { id }
      images { large } pinned { id title ... on Poll { votes } } items { id ... on Poll { votes } }
      mine: repos { all: nodes { id } info: pageInfo { from: startCursor to: endCursor } } } }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor @discardableResult
    func store(_ json: String) throws -> User {
      let response = try OneQuery.response(from: Data(json.utf8))
      _ = try dflat.write(User.self) { try $0.store(response) }
      return dflat.find(User.self, "1")!
    }
    var user = try store(#"""
      {"data": {"user": {"id": "1", "name": "n", "age": 7, "best": {"id": "2", "name": "m"},
        "avatar": {"small": "s", "size": {"width": 3}}, "friends": [{"id": "2", "age": 8}, {"id": "3", "age": 9}],
        "images": [{"small": "i"}, {"small": "j", "size": {"height": 1}}],
        "items": [{"__typename": "Post", "id": "p", "title": "t", "text": "x"}],
        "tags": ["a", "b"], "grid": [[1, 2], [3]], "repos": {"edges": [{"cursor": "c", "node": {"id": "4", "name": "r"}}]}}}}
      """#)
    let before = user
    // A failed field leaves what is stored, null clears.
    user = try store(#"""
      {"data": {"user": {"id": "1", "name": null, "age": null, "best": null, "avatar": null, "friends": null,
        "images": null, "items": null, "tags": null, "grid": [[1, 2], [3]], "repos": null}},
       "errors": [{"message": "e", "path": ["user", "name"]}, {"message": "e", "path": ["user", "best"]},
        {"message": "e", "path": ["user", "avatar", "size", "width"]}, {"message": "e", "path": ["user", "friends"]},
        {"message": "e", "path": ["user", "images"]}, {"message": "e", "path": ["user", "items", 0, "id"]},
        {"message": "e", "path": ["user", "tags"]}, {"message": "e", "path": ["user", "repos"]}, {"message": "no path"}]}
      """#)
    precondition(user.name == "n" && user.age == 0 && user.best == "2" && user.avatar == before.avatar, "\(user)")
    precondition(user.friends == ["2", "3"] && user.images == before.images && user.tags == ["a", "b"], "\(user)")
    precondition(user.items == before.items && user.grid == before.grid && user.repos == before.repos, "\(user)")
    // Elements, and what is in them. What has not failed is stored.
    user = try store(#"""
      {"data": {"user": {"id": "1", "name": "N", "age": 1, "best": {"id": "3", "name": null},
        "avatar": {"small": "S", "size": null}, "friends": [null, {"id": "5", "age": null}, null, {"id": "6", "age": 2}],
        "images": [null, {"small": null, "size": {"height": null}}, {"small": "k", "size": null}],
        "items": [{"__typename": "Post", "id": "q", "title": "new", "text": null},
          {"__typename": "Post", "id": "p", "title": null, "text": "y"}],
        "tags": [null, "B", null], "grid": [[1, null], null, null],
        "repos": {"totalCount": 1, "edges": [{"cursor": null, "node": null}], "pageInfo": null}}},
       "errors": [{"message": "e", "path": ["user", "best", "name"]}, {"message": "e", "path": ["user", "avatar", "size"]},
        {"message": "e", "path": ["user", "friends", 0]}, {"message": "e", "path": ["user", "friends", 1, "age"]},
        {"message": "e", "path": ["user", "images", 0]}, {"message": "e", "path": ["user", "images", 1, "small"]},
        {"message": "e", "path": ["user", "items", 1, "title"]}, {"message": "e", "path": ["user", "tags", 0]},
        {"message": "e", "path": ["user", "grid", 0, 1]}, {"message": "e", "path": ["user", "grid", 1]},
        {"message": "e", "path": ["user", "repos", "edges", 0, "cursor"]}]}
      """#)
    precondition(user.name == "N" && user.age == 1 && user.best == "3", "\(user)")
    precondition(dflat.find(User.self, "3")!.age == 9 && dflat.find(User.self, "2")!.name == "m")
    precondition(user.avatar == .init(size: .init(width: 3), small: "S"), "\(user)")
    precondition(user.friends == ["2", "5", "6"], "\(user)")
    precondition(user.images == [.init(small: "i"), .init(size: .init(), small: "j"), .init(small: "k")], "\(user)")
    precondition(user.items.map(\.id) == ["q", "p"], "\(user)")
    precondition(user.items[1].subtype == .post(.init(text: "y", title: "t")), "\(user)")
    precondition(user.tags == ["a", "B"] && user.grid.map(\.values) == [[1, 2], [3]], "\(user)")
    precondition(user.repos?.totalCount == 1 && user.repos?.edges == [.init()], "\(user)")
    // A stored element is not there twice.
    user = try store(#"""
      {"data": {"user": {"id": "1", "friends": [{"id": "5", "age": 1}, null], "images": []}},
       "errors": [{"message": "e", "path": ["user", "friends", 1]}]}
      """#)
    precondition(user.friends == ["5"], "\(user)")
    // A path that has a value leaves what is stored, too, and so does everything in it.
    user = try store(#"""
      {"data": {"user": {"id": "1", "name": "-", "friends": [{"id": "9", "age": 1}]}},
       "errors": [{"message": "e", "path": ["user", "friends"]}]}
      """#)
    precondition(user.friends == ["5"] && user.name == "-" && dflat.find(User.self, "9") == nil, "\(user)")
    // Pages.
    let page = try OneQuery.response(from: Data(#"""
      {"data": {"user": {"id": "1", "friends": [null, {"id": "7", "age": 7}, {"id": "5", "age": null}],
        "repos": {"edges": null, "pageInfo": {"endCursor": "e"}}}},
       "errors": [{"message": "e", "path": ["user", "friends", 0]}, {"message": "e", "path": ["user", "friends", 2, "age"]},
        {"message": "e", "path": ["user", "repos", "edges"]}]}
      """#.utf8))
    try dflat.write(User.self) { txn in
      _ = try txn.store(page, pages: [.append(\.user.friends), .append(\.user.repos)])
      _ = try txn.store(page, \.user.friends, .prepend)
    }
    user = dflat.find(User.self, "1")!
    precondition(user.friends == ["5", "7"] && dflat.find(User.self, "5")!.age == 1, "\(user)")
    precondition(user.repos?.edges == [] && user.repos?.pageInfo == nil, "\(user)")
    // An edge is told by its node: one whose node has failed is the stored one at its place, or is
    // not there.
    func edges(_ list: String, failing index: Int) -> String {
      #"{"data": {"user": {"id": "1", "repos": {"edges": [\#(list)]}}}, "errors": [{"message": "e", "path": ["user", "repos", "edges", \#(index), "node"]}]}"#
    }
    func edge(_ cursor: String, _ node: String?) -> String {
      #"{"cursor": "\#(cursor)", "node": \#(node.map { #"{"id": "\#($0)", "name": "r"}"# } ?? "null")}"#
    }
    user = try store(edges("\(edge("a", nil)), \(edge("b", "4"))", failing: 0))
    precondition(user.repos?.edges == [.init(cursor: "b", node: "4")], "\(user)")
    user = try store(edges("\(edge("b", "4")), \(edge("c", "5")), \(edge("d", nil))", failing: 2))
    user = try store(edges("\(edge("e", nil)), \(edge("c", "5"))", failing: 0))
    precondition(user.repos?.edges == [.init(cursor: "e", node: "4"), .init(cursor: "c", node: "5")], "\(user)")
    user = try store(edges("\(edge("c", "5")), \(edge("f", nil))", failing: 1))
    precondition(user.repos?.edges == [.init(cursor: "c", node: "5")], "\(user)")
    for update in [GraphQLListUpdate.append, .prepend] {
      let page = try OneQuery.response(from: Data(edges("\(edge("g", nil)), \(edge("h", "5"))", failing: 0).utf8))
      _ = try dflat.write(User.self) { try $0.store(page, \.user.repos, update) }
      user = dflat.find(User.self, "1")!
      precondition(user.repos?.edges == [.init(cursor: "h", node: "5")], "\(user)")
    }
    // One that has no node stays without one.
    user = try store(edges("\(edge("i", nil)), \(edge("j", nil))", failing: 1))
    precondition(user.repos?.edges == [.init(cursor: "i")], "\(user)")
    // No data at all.
    do {
      try store(#"{"data": null, "errors": [{"message": "down"}]}"#)
      fatalError("stored nothing")
    } catch let error as GraphQLErrors { precondition(error.errors.map(\.message) == ["down"]) }
    print("all is well")
    """####

  private static let options = "--entity User --primary-key id"

  @Test("keep what is stored at the paths of errors, and store everything else")
  func failedPaths() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations, Self.options)
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("and with pages are stored as a model says that knows no entities and no Swift types")
  func model() throws {
    let program = try text(of: GraphQL.programs.appending(path: "merging.swift"))
    let output = try GraphQL.output(of: program, Self.schema, Self.operations, Self.options)
    #expect(output == "all is well\n", "\(output)")
  }
}
