// Objects of interfaces and unions that come without their key: nothing says which stored object
// they are, so they change none.

import Foundation
import Testing

@Suite("Objects of interfaces without their key")
struct KeylessObjectTests {
  private static let schema = """
    interface Named { id: ID!  name: String }
    type User implements Named {
      id: ID!  name: String  age: Int  boss: Named  team: [Named]  shape: Shape  shapes: [Shape]
      mixed: Mixed  grid: [[Shape]]  moods: [Mood]
    }
    enum Mood { HAPPY SAD }
    type Robot implements Named { id: ID!  name: String  model: String }
    interface Shape { num: Int!  label: String }
    type Circle implements Shape { num: Int!  label: String  r: Float }
    type Square implements Shape { num: Int!  label: String  side: Float }
    type Note { text: String  more: String }
    union Mixed = Circle | Note
    type Query { user: User }
    """

  private static let operations = """
    query Full {
      user {
        id name boss { id name } team { id name } shape { num label ... on Circle { r } }
        shapes { num label } mixed { ... on Circle { num r } ... on Note { text } }
      }
    }
    query Types {
      user { id boss { __typename } team { __typename } shape { __typename } shapes { __typename } mixed { __typename } }
    }
    query Users {
      user { id boss { ... on User { id age } } team { ... on User { age } } mixed { ... on Note { more } } }
    }
    query Grid { user { id grid { num label } moods } }
    query Part { user { id grid { ... on Circle { num label } } } }
    query Some($with: Boolean!) {
      user { id shape { num @include(if: $with) label } shapes { ... on Circle { num r } } }
    }
    """

  private static let options =
    "--entity User --entity Robot --primary-key id --primary-key Shape=num --primary-key Mixed=num"

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor @discardableResult
    func store<O: GraphQLOperation>(
      _ type: O.Type, _ fields: String, failing path: String? = nil
    ) throws -> User where O.Data: GraphQLStorable {
      let errors = path.map { ", \"errors\": [{\"message\": \"no\", \"path\": [\"user\", \($0)]}]" } ?? ""
      let json = "{\"data\": {\"user\": {\"id\": \"1\", \(fields)}}\(errors)}"
      let response = try O.response(from: Data(json.utf8))
      _ = try dflat.write(User.self, Robot.self) { try $0.store(response) }
      return dflat.find(User.self, "1")!
    }
    let full = #"""
      "name": "n", "boss": {"__typename": "Robot", "id": "r2", "name": "R"},
      "team": [{"__typename": "Robot", "id": "r1", "name": "x"}, {"__typename": "User", "id": "2", "name": "y"}],
      "shape": {"__typename": "Circle", "num": 5, "label": "five", "r": 1.5},
      "shapes": [{"__typename": "Circle", "num": 0, "label": "none"}, {"__typename": "Square", "num": 1, "label": "one"}],
      "mixed": {"__typename": "Note", "text": "t"}
      """#
    let before = try store(FullQuery.self, full)
    // The types alone.
    let types = try store(TypesQuery.self, #"""
      "boss": {"__typename": "User"}, "team": [{"__typename": "User"}], "shape": {"__typename": "Square"},
      "shapes": [{"__typename": "Square"}], "mixed": {"__typename": "Note"}
      """#)
    precondition(types == before, "\(types)")
    // A whole object has them, with what is known.
    let whole = try TypesQuery.response(from: Data(#"""
      {"data": {"user": {"id": "9", "boss": {"__typename": "Robot"}, "shapes": [{"__typename": "Square"}]}}}
      """#.utf8)).data!.user!
    precondition(User(whole).boss != nil && User(whole).shapes == [.init(subtype: .square(.init()))], "\(User(whole))")
    // Keys of some types only. A list that is not known as a whole keeps its elements.
    var user = try store(UsersQuery.self, #"""
      "boss": {"__typename": "Robot"},
      "team": [{"__typename": "Robot"}, {"__typename": "User", "id": "2", "age": 5}],
      "mixed": {"__typename": "Note", "more": "m"}
      """#)
    precondition(user.boss == before.boss && user.team == before.team, "\(user)")
    precondition(dflat.find(User.self, "2")!.age == 5)
    precondition(user.mixed?.subtype == .note(.init(more: "m", text: "t")), "\(user)")
    user = try store(UsersQuery.self, #"""
      "boss": {"__typename": "User", "id": "3", "age": 6}, "team": [{"__typename": "User", "id": "2", "age": 7}], "mixed": null
      """#)
    precondition(user.boss?.id == "3" && user.team.map(\.id) == ["2"] && user.mixed == nil, "\(user)")
    // 0 is a key as any other number.
    user = try store(FullQuery.self, #"""
      "shape": {"__typename": "Circle", "num": 0, "label": "zero"}
      """#)
    precondition(user.shape == .init(num: 0, subtype: .circle(.init(label: "zero"))), "\(user)")
    user = try store(FullQuery.self, #"""
      "shape": {"__typename": "Circle", "num": 0, "r": 2.5}
      """#)
    precondition(user.shape == .init(num: 0, subtype: .circle(.init(r: 2.5))), "\(user)")
    user = try store(FullQuery.self, #""shape": {"__typename": "Circle", "num": 7, "label": "seven"}"#)
    precondition(user.shape == .init(num: 7, subtype: .circle(.init(label: "seven"))), "\(user)")
    user = try store(SomeQuery.self, #""shape": {"__typename": "Circle", "label": "other"}"#)
    precondition(user.shape == .init(num: 7, subtype: .circle(.init(label: "seven"))), "\(user)")
    user = try store(SomeQuery.self, #""shape": {"__typename": "Circle", "num": 7, "label": "other"}"#)
    precondition(user.shape == .init(num: 7, subtype: .circle(.init(label: "other"))), "\(user)")
    // An object of a type that has no key takes the place of one with a key, and the other way.
    user = try store(FullQuery.self, #""mixed": {"__typename": "Circle", "num": 0, "r": 1}"#)
    user = try store(UsersQuery.self, #""mixed": {"__typename": "Note", "more": "m"}"#)
    precondition(user.mixed == .init(subtype: .note(.init(more: "m"))), "\(user)")
    // Where nothing is stored, those with keys are.
    user = try store(SomeQuery.self, #""shapes": []"#)
    user = try store(SomeQuery.self, #""shapes": [{"__typename": "Circle", "num": 3}, {"__typename": "Square"}]"#)
    precondition(user.shapes.map(\.num) == [3], "\(user)")
    // In a list of lists.
    let part = #"[{"__typename": "Circle", "num": 1, "label": "new"}, {"__typename": "Square"}]"#
    user = try store(PartQuery.self, #""grid": [\#(part)]"#)
    precondition(user.grid.map { $0.values.map(\.num) } == [[1]], "\(user)")
    user = try store(GridQuery.self, #"""
      "grid": [null, [{"__typename": "Circle", "num": 1, "label": "a"}, {"__typename": "Square", "num": 2, "label": "b"}],
        [{"__typename": "Square", "num": 3, "label": "c"}]], "moods": ["HAPPY", "HAPPY", "HAPPY"]
      """#)
    let square = user.grid[0].values[1]
    for response in ["[\(part), null]", "[null, \(part)]"] {
      user = try store(PartQuery.self, #""grid": \#(response)"#)
      precondition(user.grid.count == 1 && user.grid[0].values == [.init(num: 1, subtype: .circle(.init(label: "new"))), square], "\(user)")
    }
    // A value that is not known is left out, and what has failed stays.
    user = try store(GridQuery.self, #""moods": ["SAD", null, "NEW", "SAD"]"#, failing: #""moods", 1"#)
    precondition(user.moods == [.sad, .happy, .sad], "\(user)")
    print("all is well")
    """####

  @Test("are not stored, and change nothing that is stored; 0 is a key")
  func stored() throws {
    let output = try GraphQL.output(of: Self.program, Self.schema, Self.operations, Self.options)
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("are reported if something is selected of them")
  func reported() throws {
    let run = try GraphQL.run(
      Self.schema, "query Q { user { id shape { label } mixed { ... on Circle { r } } } }",
      Self.options)
    #expect(run.status == 0)
    #expect(
      run.errors.contains(
        "warning: 'shape' selects objects of Shape without their key, so they are not stored"),
      "\(run.errors)")
    #expect(run.errors.contains("add 'num' to this selection"), "\(run.errors)")
    #expect(run.errors.contains("'mixed' selects objects of Mixed"), "\(run.errors)")
  }

  @Test(
    "are reported if the key comes later than they do",
    arguments: [
      "shape { label ... @defer { num } }",
      "shape { ... on Circle { r ... @defer { num } } ... on Square { num } }",
      "shape { __typename ... @defer { num label } }",
      "shape { label } ... @defer { shape { num } }",
    ])
  func deferred(selection: String) throws {
    let operations = "query Q { user { id \(selection) } }"
    let run = try GraphQL.run(Self.schema, operations, Self.options + " --incremental")
    #expect(run.status == 0)
    let place = "outside of the deferred fragment"
    #expect(
      run.errors.contains("'shape' selects objects of Shape without their key \(place), so they"),
      "\(run.errors)")
    #expect(run.errors.contains("note: add 'num' to this selection \(place)"), "\(run.errors)")
    // Without parts there is nothing to wait for.
    let whole = try GraphQL.run(Self.schema, operations, Self.options)
    #expect(!whole.errors.contains("without their key"), "\(whole.errors)")
  }

  @Test(
    "are not reported if the key comes with them",
    arguments: [
      "shape { num ... @defer { num label } }",
      "... @defer { shape { num label } }",
      "shape { label num @include(if: true) ... @defer(if: false) { num } }",
      "shape { label ... @defer(if: false) { num } }",
    ])
  func early(selection: String) throws {
    let run = try GraphQL.run(
      Self.schema, "query Q { user { id \(selection) } }", Self.options + " --incremental")
    #expect(run.status == 0 && !run.errors.contains("without their key"), "\(run.errors)")
  }
}
