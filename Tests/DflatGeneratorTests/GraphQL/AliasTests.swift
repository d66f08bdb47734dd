// Fields that are selected several times: whose value is stored.

import DflatGenerator
import Foundation
import Testing

@Suite("Stored fields that are selected several times")
struct AliasTests {
  private static let schema = """
    interface Node { id: ID!  name: String }
    type User implements Node { id: ID!  name: String  must: Int!  image(size: Int): Image }
    type Team implements Node { id: ID!  name: String }
    type Image { url: String  width: Int }
    type Query { user: User  node: Node }
    """

  private static let operations = """
    query Some($a: Boolean!, $b: Boolean!) {
      user {
        id
        label: name  other: name @include(if: $b)  name @include(if: $a)
        number: must  must @include(if: $a)
        small: image(size: 1) { url width }  image(size: 1) @include(if: $a) { url }
      }
    }
    query Narrow($a: Boolean!) {
      node { id label: name ... on User { name @include(if: $a)  must } }
    }
    query Wide($a: Boolean!) {
      node { id name @include(if: $a) ... on User { label: name  must } }
    }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor
    func store<O: GraphQLOperation>(_ type: O.Type, _ json: String, errors: String = "") throws -> User
    where O.Data: GraphQLStorable {
      let response = try O.response(from: Data(#"{"data": {\#(json)}\#(errors)}"#.utf8))
      try dflat.write(User.self) { _ = try $0.store(response) }
      return dflat.find(User.self, "1")!
    }
    // The selection without an alias counts where it is in the response, and else the last one.
    let image = #""small": {"url": "s", "width": 1}"#
    var user = try store(SomeQuery.self, #""user": {"id": "1", "label": "l", "number": 1, \#(image)}"#)
    precondition(user.name == "l" && user.must == 1 && user.image == .init(url: "s", width: 1), "\(user)")
    user = try store(SomeQuery.self, #""user": {"id": "1", "label": "l", "other": "o", "number": 2, \#(image)}"#)
    precondition(user.name == "o" && user.must == 2, "\(user)")
    user = try store(SomeQuery.self, #"""
      "user": {"id": "1", "label": "l", "other": "o", "name": "n", "number": 3, "must": 4, \#(image), "image": {"url": "i"}}
      """#)
    precondition(user.name == "n" && user.must == 4 && user.image == .init(url: "i", width: 1), "\(user)")
    // Null is in the response, and a failed field keeps what is stored.
    let null = #""user": {"id": "1", "label": "l", "name": null, "number": 5, "must": 6, \#(image), "image": null}"#
    user = try store(SomeQuery.self, null, errors: #", "errors": [{"message": "m", "path": ["user", "name"]}]"#)
    precondition(user.name == "n" && user.image == nil, "\(user)")
    user = try store(SomeQuery.self, null)
    precondition(user.name == nil && user.must == 6, "\(user)")

    let node = #""__typename": "User", "id": "1", "label": "l", "must": 7"#
    user = try store(NarrowQuery.self, #""node": {\#(node)}"#)
    precondition(user.name == "l" && user.must == 7, "\(user)")
    user = try store(NarrowQuery.self, #""node": {\#(node), "name": "n"}"#)
    precondition(user.name == "n", "\(user)")
    user = try store(WideQuery.self, #""node": {\#(node)}"#)
    precondition(user.name == "l", "\(user)")
    user = try store(WideQuery.self, #""node": {\#(node), "name": "n"}"#)
    precondition(user.name == "n", "\(user)")
    let whole = try SomeQuery.response(from: Data(#"{"data": {"user": {"id": "1", "label": "l", "number": 1}}}"#.utf8))
    precondition(User(whole.data!.user!).name == "l")
    print("all is well")
    """####

  @Test("have the value of an alias where the selection without one is left out")
  func leftOut() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations, "--entity User --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }
}
