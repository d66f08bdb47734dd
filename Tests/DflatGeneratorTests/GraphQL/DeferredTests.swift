// Operations whose answers come in parts: `@defer` and `@stream`.

import Foundation
import Testing

@Suite("Operations with deferred fragments")
struct DeferredTests {
  private static let schema = """
    type User {
      id: ID!  name: String!  age: Int!  bio: String  friends: [User!]!  avatar: Image!
      items: [Item!]!
    }
    type Image { small: String!  large: String! }
    type Item { id: ID!  title: String!  text: String! }
    type Query { user: User! }
    """

  private static let operations = """
    query Whole($later: Boolean!) {
      user {
        id name
        ...Rest @defer(label: "rest", if: $later)
        avatar { small ... @defer { large } }
        friends { id ... @defer { name } }
        items @stream(initialCount: 1, label: "items") { id title ... @defer(if: false) { text } }
      }
    }
    fragment Rest on User { name age bio }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    precondition(WholeQuery.document.contains(#"...Rest @defer(label: "rest", if: $later)"#))
    precondition(WholeQuery.document.contains(#"@stream(initialCount: 1, label: "items")"#))
    let dflat = MemoryWorkspace()
    var decoder = GraphQLIncrementDecoder<WholeQuery.Data>()
    @MainActor @discardableResult
    func take(_ json: String) throws -> (GraphQLIncrement<WholeQuery.Data>, User, BulkChange) {
      let increment = try decoder.decode(Data(json.utf8))!
      let change = try dflat.write(User.self) { txn in try txn.store(increment) }
      return (increment, dflat.find(User.self, "1")!, change)
    }
    var (increment, user, changed) = try take(#"""
      {"data": {"user": {"id": "1", "name": "n", "avatar": {"small": "s"},
        "friends": [{"id": "2"}, {"id": "3"}], "items": [{"id": "a", "title": "A", "text": "x"}]}},
       "hasNext": true}
      """#)
    let whole = increment.response.data!.user
    precondition(whole.age == nil && !whole.bioIfIncluded.isIncluded && whole.name == "n", "\(whole)")
    precondition(whole.avatar.large == nil && whole.avatar.small == "s", "\(whole)")
    precondition(whole.items[0].text == "x", "\(whole)")
    precondition(user.friends == ["2", "3"] && user.age == 0 && user.avatar?.small == "s", "\(user)")
    // What the program changes meanwhile stays, unless the part is about it.
    let first = user
    _ = try dflat.write(User.self) { txn in
      try txn.update(first) { $0.name = "mine"; $0.friends = ["3"]; $0.age = 1; $0.bio = "old" }
    }
    (increment, user, changed) = try take(#"""
      {"incremental": [{"path": ["user"], "label": "rest", "data": {"age": 7, "bio": null}},
         {"path": ["user", "avatar"], "data": {"large": "l"}}], "hasNext": true}
      """#)
    precondition(increment.response.data!.user.age == 7)
    precondition(user.name == "mine" && user.age == 7 && user.friends == ["3"], "\(user)")
    precondition(user.bio == nil, "\(user)")
    precondition(user.avatar == .init(large: "l", small: "s"), "\(user)")
    precondition(changed.updated == 1 && changed.inserted == 0, "\(changed)")
    let second = user
    _ = try dflat.write(User.self) { txn in
      try txn.update(second) { $0.friends = ["2", "3"]; $0.avatar = .init(large: "mine", small: "t") }
    }
    (increment, user, changed) = try take(#"""
      {"incremental": [{"path": ["user", "items", 1], "items": [{"id": "b", "title": "B", "text": "y"}]},
         {"path": ["user", "friends", 1], "data": {"name": "three"}}], "hasNext": false}
      """#)
    precondition(user.items.map(\.title) == ["A", "B"] && user.name == "mine", "\(user)")
    precondition(user.friends == ["2", "3"] && user.avatar?.large == "mine", "\(user)")
    let friends = ["2", "3"].map { dflat.find(User.self, $0)!.name }
    precondition(friends == [nil, "three"], "\(friends)")
    precondition(!increment.hasNext && increment.response.data!.user.friends[1].name == "three")
    print("all is well")
    """####

  @Test("have optional types for what comes later, and each part is stored as it comes")
  func incremental() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations,
      "--entity User --primary-key id --incremental")
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("ask for the whole answer, unless the command line says that it may come in parts")
  func whole() throws {
    let run = try GraphQL.run(
      Self.schema, Self.operations, "--entity User --primary-key id")
    let text = run.files["WholeQuery_generated.swift"] ?? ""
    #expect(run.status == 0 && text.contains("public var age: Int\n"), "\(run.errors)\(text)")
    #expect(!text.contains("@defer") && !text.contains("$later") && !text.contains("@stream"))
    let apollo = try GraphQL.run(
      Self.schema, Self.operations, "--entity User --primary-key id --client apollo --incremental")
    #expect(apollo.status != 0 && apollo.errors.contains("--incremental is for --client dflat"))
  }

  @Test("cannot be read from Apollo's classes", arguments: ["apollo", "apollo-classic"])
  func apollo(client: String) throws {
    let options = "--entity User --primary-key id --client \(client)"
    let run = try GraphQL.run(
      Self.schema,
      """
      query A { user { id ...Rest @defer(label: "rest") } }
      query B { user { id ...Rest ... @defer(if: false) { bio } } }
      fragment Rest on User { name ... @defer(label: "age") { age } }
      """, options)
    #expect(run.status == 1 && run.files.isEmpty)
    let errors = run.errors.components(separatedBy: "operations.graphql:").dropFirst()
    #expect(errors.map { $0.prefix(4) } == ["1:29", "3:34"], "\(run.errors)")
    #expect(
      run.errors.contains("error: what '@defer' delays cannot be read from Apollo's classes"))
    #expect(run.errors.contains("note: select it without '@defer', or "))
    // What no entity is made of may be delayed.
    let other = try GraphQL.run(
      Self.schema, "query A { user { id avatar { small } } } query B { ... @defer { __typename } }",
      options)
    #expect(other.status == 0 && other.errors == "", "\(other.errors)")
  }
}
