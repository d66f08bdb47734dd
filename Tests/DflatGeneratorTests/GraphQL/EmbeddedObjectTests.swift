// Objects without a key are a part of the object that holds them, and merge field by field.

import Testing

@Suite("Embedded objects of stored responses")
struct EmbeddedObjectTests {
  private static let schema = """
    interface Node { id: ID! }
    type User { id: ID!  avatar: Image  repos(first: Int): Repos  pinned: Item  last: Event  parts: [Image] }
    type Image { small: String  large: String  size: Size }
    type Size { width: Int  height: Int }
    type Repos { totalCount: Int  nodes: [Repo]  pageInfo: PageInfo }
    type PageInfo { endCursor: String  hasNextPage: Boolean }
    type Repo { name: String }
    interface Item { id: ID!  title: String }
    type Post implements Item { id: ID!  title: String  text: String }
    type Poll implements Item { id: ID!  title: String  votes: Int }
    union Event = Login | Rename
    type Login { at: String  place: Size }
    type Rename { at: String  name: String }
    type Query { user: User  same: User }
    """

  private static let operations = """
    query Small { user { id avatar { small size { width } } } }
    query Large { user { id avatar { large size { height } } } }
    query Both { user { id avatar { small } } same { id avatar { large } } }
    query Some($with: Boolean!) { user { id avatar { small large @include(if: $with) } } }
    query Names { user { id repos { nodes { name } pageInfo { endCursor } } } }
    query Count { user { id repos { totalCount pageInfo { hasNextPage } } } }
    query Title { user { id pinned { id title } } }
    query Text { user { id pinned { id ... on Post { text } ... on Poll { votes } } } }
    query Place { user { id last { ... on Login { place { width } } ... on Rename { name } } } }
    query At { user { id last { ... on Login { at place { height } } ... on Rename { at } } } }
    query Parts { user { id parts { small } } }
    query Larges { user { id parts { large } } }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor @discardableResult
    func store<O: GraphQLOperation>(_ type: O.Type, _ user: String, _ rest: String = "") throws -> User
    where O.Data: GraphQLStorable {
      let json = "{\"data\": {\"user\": {\"id\": \"1\", \(user)}\(rest)}}"
      let data = try O.response(from: Data(json.utf8)).requireData()
      _ = try dflat.write(User.self) { try $0.store(data) }
      return dflat.find(User.self, "1")!
    }

    // Two operations select different fields, also of objects inside.
    try store(SmallQuery.self, #""avatar": {"small": "s", "size": {"width": 1}}"#)
    var user = try store(LargeQuery.self, #""avatar": {"large": "l", "size": {"height": 2}}"#)
    let both = User.Image(large: "l", size: User.Size(height: 2, width: 1), small: "s")
    precondition(user.avatar == both, "\(user)")
    // Null clears the field that it is about; a null object clears it with everything.
    user = try store(SmallQuery.self, #""avatar": {"small": null, "size": null}"#)
    precondition(user.avatar == User.Image(large: "l"), "\(user)")
    user = try store(SomeQuery.self, #""avatar": {"small": "s"}"#)
    precondition(user.avatar == User.Image(large: "l", small: "s"), "\(user)")
    user = try store(LargeQuery.self, #""avatar": null"#)
    precondition(user.avatar == nil)
    // Within one response.
    user = try store(
      BothQuery.self, #""avatar": {"small": "x"}"#,
      #", "same": {"id": "1", "avatar": {"large": "y"}}"#)
    precondition(user.avatar == User.Image(large: "y", small: "x"), "\(user)")

    // A count keeps the nodes of its connection.
    try store(NamesQuery.self, #""repos": {"nodes": [{"name": "a"}], "pageInfo": {"endCursor": "c"}}"#)
    user = try store(
      CountQuery.self, #""repos": {"totalCount": 7, "pageInfo": {"hasNextPage": true}}"#)
    precondition(user.repos?.nodes == [User.Repo(name: "a")] && user.repos?.totalCount == 7, "\(user)")
    precondition(user.repos?.pageInfo == User.PageInfo(endCursor: "c", hasNextPage: true), "\(user)")

    // An object with a key merges as long as it is the same object, of the same type.
    try store(TitleQuery.self, #""pinned": {"__typename": "Post", "id": "5", "title": "T"}"#)
    user = try store(TextQuery.self, #""pinned": {"__typename": "Post", "id": "5", "text": "x"}"#)
    precondition(user.pinned?.subtype == .post(.init(text: "x", title: "T")), "\(user)")
    user = try store(TextQuery.self, #""pinned": {"__typename": "Post", "id": "6", "text": "z"}"#)
    precondition(user.pinned?.subtype == .post(.init(text: "z")) && user.pinned?.id == "6", "\(user)")
    user = try store(TextQuery.self, #""pinned": {"__typename": "Poll", "id": "6", "votes": 3}"#)
    precondition(user.pinned?.subtype == .poll(.init(votes: 3)), "\(user)")

    try store(PlaceQuery.self, #""last": {"__typename": "Login", "place": {"width": 4}}"#)
    user = try store(AtQuery.self, #""last": {"__typename": "Login", "at": "now", "place": {"height": 5}}"#)
    precondition(
      user.last?.subtype == .login(.init(at: "now", place: .init(height: 5, width: 4))), "\(user)")
    user = try store(AtQuery.self, #""last": {"__typename": "Rename", "at": "then"}"#)
    precondition(user.last?.subtype == .rename(.init(at: "then")), "\(user)")
    user = try store(AtQuery.self, #""last": {"__typename": "Newer"}"#)
    precondition(user.last?.subtype == nil, "\(user)")

    // A list is replaced as a whole.
    try store(PartsQuery.self, #""parts": [{"small": "1"}, {"small": "2"}]"#)
    user = try store(LargesQuery.self, #""parts": [{"large": "3"}]"#)
    precondition(user.parts == [User.Image(large: "3")], "\(user)")
    print("all is well")
    """####

  @Test("merge by their paths, within a response and across responses")
  func merge() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations, "--entity User --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }
}
