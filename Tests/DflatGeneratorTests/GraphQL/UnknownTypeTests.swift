// Objects of types, and values of enums, that the service has got since the schema was written.

import DflatGenerator
import Foundation
import Testing

@Suite("Stored responses with unknown types and values")
struct UnknownTypeTests {
  private static let schema = """
    interface Actor { id: ID!  name: String }
    type User implements Actor { id: ID!  name: String  email: String }
    union Found = User
    interface Titled { id: ID!  title: String }
    interface Item { id: ID!  title: String }
    type Post implements Titled & Item {
      id: ID!  title: String  author: Actor  readers: [Actor!]!  owner: User
    }
    union Anything = Post
    type Query {
      me: User  post: Post  actor: Actor  actors: [Actor]  found: [Found]  titled: Titled  item: Item
      anything: Anything
    }
    """

  private static let operations = """
    query Me { me { id name email } }
    query Everything {
      post { id title author { id name } readers { id name } owner { id } }
      actor { id name }  actors { id ... on User { email } }
      found { ... on User { id name } }
      titled { id title ... on Post { owner { id name } } }
      item { id title }
      anything { ... on Titled { id title } }
    }
    """

  /// Everything, with objects of some types.
  private static let response = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    func everything(_ actor: String, _ item: String) throws -> EverythingQuery.Data {
      let user = #"{"__typename": "\#(actor)", "id": "7", "name": "R2D2", "email": "r@x"}"#
      let post = #"{"__typename": "\#(item)", "id": "p", "title": "new"}"#
      return try EverythingQuery.response(from: Data(#"""
        {"data": {
          "post": {"__typename": "Post", "id": "q", "title": "Q", "author": \#(user), "readers": [\#(user)]},
          "actor": \#(user), "actors": [\#(user), null], "found": [\#(user)],
          "titled": \#(post), "item": \#(post), "anything": \#(post)}}
        """#.utf8)).requireData()
    }
    let me = try MeQuery.response(from: Data(
      #"{"data": {"me": {"id": "7", "name": "Ann", "email": "ann@x"}}}"#.utf8)).requireData()
    """####

  private static let objects = ####"""
    let dflat = MemoryWorkspace()
    try dflat.write(User.self, Post.self) { _ = try $0.store(me) }
    let newer = try everything("Bot", "Poll")
    try dflat.write(User.self, Post.self) { _ = try $0.store(newer) }
    precondition(Array(dflat.fetch(for: User.self).all()) == [User(id: "7", email: "ann@x", name: "Ann")])
    let post = dflat.fetch(for: Post.self).all()
    precondition(post.count == 1 && post[0].id == "q" && post[0].author?.id == "7", "\(post)")
    precondition(post[0].author!.subtype == nil && post[0].readers[0].subtype == nil, "\(post)")
    let users: [User?] = [User(newer.actor!), User(newer.post!.author!), User(newer.found![0]!)]
    precondition(users == [nil, nil, nil])
    precondition([Post(newer.item!)] as [Post?] == [nil])

    let known = try everything("User", "Post")
    try dflat.write(User.self, Post.self) { _ = try $0.store(known) }
    precondition(Array(dflat.fetch(for: User.self).all()) == [User(id: "7", email: "r@x", name: "R2D2")])
    precondition(dflat.find(Post.self, "p")!.title == "new")
    precondition(dflat.find(Post.self, "q")!.author!.subtype == .userReference(.init(id: "7")))
    let whole: (User?, Post?) = (User(known.actor!), Post(known.item!))
    precondition(whole.0?.name == "R2D2" && whole.1?.title == "new")
    print("all is well")
    """####

  @Test("An object of a type that is not the only one any more is not stored as that one")
  func onlyTypes() throws {
    let output = try GraphQL.output(
      of: Self.response + "\n" + Self.objects, Self.schema, Self.operations,
      "--entity User --entity Post --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }

  private static let interfaces = ####"""
    let dflat = MemoryWorkspace()
    try dflat.write(Actor.self, Item.self) { _ = try $0.store(everything("Bot", "Poll")) }
    // Of these two it is known that they are in the interface.
    precondition(Array(dflat.fetch(for: Actor.self).all()) == [Actor(id: "7")])
    precondition(dflat.fetch(for: Item.self).all().map(\.id) == ["q", "p"])
    precondition(dflat.find(Item.self, "p")! == Item(id: "p"))
    let poll = dflat.find(Item.self, "p")!
    try dflat.write(Item.self) { try $0.delete(poll) }

    // Of these it is not, although all that the schema knows are.
    let titled = #"{"__typename": "Poll", "id": "p", "title": "new"}"#
    let data = try EverythingQuery.response(from: Data(#"""
      {"data": {"titled": \#(titled), "anything": \#(titled), "found": [{"__typename": "Bot", "id": "8"}]}}
      """#.utf8)).requireData()
    try dflat.write(Actor.self, Item.self) { _ = try $0.store(data) }
    precondition(dflat.find(Item.self, "p") == nil && dflat.find(Actor.self, "8") == nil)
    precondition([Item(data.titled!)] as [Item?] == [nil])
    print("all is well")
    """####

  @Test(
    "An object of an unknown type is stored as an interface that it surely has, and as no other")
  func interfaceEntities() throws {
    let output = try GraphQL.output(
      of: Self.response + "\n" + Self.interfaces, Self.schema, Self.operations,
      "--entity Actor --entity Item --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }

  private static let valueProgram = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    let data = try AllQuery.response(from: Data(#"""
      {"data": {"user": {"id": "1", "must": ["READ", "COMMENT"], "may": ["COMMENT", null, "WRITE"],
        "grid": [["COMMENT", "READ"], ["COMMENT"], null]}}}
      """#.utf8)).requireData()
    try dflat.write(User.self) { _ = try $0.store(data) }
    for user in [dflat.find(User.self, "1")!, User(data.user!)] {
      precondition(user.must == [.read] && user.may == [.write], "\(user)")
      precondition(user.grid.map(\.values) == [[.read], []], "\(user)")
    }
    print("all is well")
    """####

  @Test("A value that an enum does not have is left out of lists", arguments: ["", " --evolve"])
  func listsOfEnums(options: String) throws {
    let output = try GraphQL.output(
      of: Self.valueProgram,
      """
      enum Permission { ADMIN READ WRITE }
      type User { id: ID!  must: [Permission!]!  may: [Permission]  grid: [[Permission!]] }
      type Query { user: User }
      """, "query All { user { id must may grid } }",
      "--entity User --primary-key id" + options)
    #expect(output == "all is well\n", "\(output)")
  }
}
