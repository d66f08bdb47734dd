// Keys of entities: which field they are in for each type, and that they are selected.

import Diagnostics
import DflatGenerator
import Foundation
import Testing

@Suite("Keys of GraphQL entities")
struct KeyTests {
  private static let schema = """
    type User { login: String!  id: ID!  name: String  posts: [Post!]  last: Activity  best: User  club: Club }
    type Club { code: ID  name: String }
    type Post { slug: String!  title: String  author: User  pinned: Item  items: [Item] }
    interface Item { code: Int!  text: String }
    type Photo implements Item { code: Int!  text: String  size: Int }
    type Note implements Item { code: Int!  text: String }
    union Activity = User | Post
    type Ticket { number: Int!  author: Actor  subject: Subject }
    interface Actor { name: String }
    type Person implements Actor { id: ID!  name: String }
    type Robot implements Actor { id: Int!  name: String }
    union Subject = Person | Page
    type Page { id: ID!  title: String }
    type Query { user: User  posts: [Post]  activities: [Activity]  ticket: Ticket }
    """

  private static let operations = """
    query A { user { name id posts { title } last { ... on Post { title } } best { name } } }
    query B { activities { ... on Post { title pinned { code text ... on Photo { size } } author { name } } } }
    query C { posts { items { code text } } }
    query D {
      ticket {
        author { name ... on Person { id } ... on Robot { robot: id } }
        subject { ... on Person { id name } ... on Page { id title } }
      }
    }
    query E { user { login club { name } } }
    """

  private static let options =
    "--entity User --entity Post --entity Ticket --primary-key id --primary-key User=login "
    + "--primary-key Post=slug --primary-key Item=code --primary-key Ticket=number"

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor func store<O: GraphQLOperation>(
      _ type: O.Type, _ json: String, _ pages: [GraphQLPage<O.Data>] = []
    ) throws where O.Data: GraphQLStorable {
      let response = try O.response(from: Data("{\"data\": \(json)}".utf8))
      _ = try dflat.write(User.self, Post.self, Ticket.self, Club.self) { try $0.store(response, pages: pages) }
    }
    try store(AQuery.self, #"""
      {"user": {"login": "lars", "name": "L", "id": "1", "posts": [{"slug": "p", "title": "T"}],
        "last": {"__typename": "Post", "slug": "q", "title": "U"}, "best": {"login": "anna", "name": "A"}}}
      """#)
    let lars = dflat.find(User.self, "lars")!
    precondition(lars.id == "1" && lars.name == "L" && lars.posts == ["p"] && lars.best == "anna", "\(lars)")
    precondition(lars.last?.subtype == .postReference(.init(slug: "q")), "\(lars)")
    precondition(dflat.find(User.self, "anna")!.name == "A")
    precondition(dflat.find(Post.self, "p")!.title == "T" && dflat.find(Post.self, "q")!.title == "U")
    try store(BQuery.self, #"""
      {"activities": [{"__typename": "User", "login": "new"}, {"__typename": "Post", "slug": "p", "title": "V",
        "pinned": {"__typename": "Photo", "code": 7, "text": "x", "size": 3}, "author": {"login": "lars", "name": "M"}}]}
      """#)
    let post = dflat.find(Post.self, "p")!
    precondition(post.title == "V" && post.author == "lars" && post.pinned?.code == 7, "\(post)")
    precondition(post.pinned?.subtype == .photo(.init(size: 3, text: "x")), "\(post)")
    precondition(dflat.find(User.self, "lars")!.name == "M" && dflat.find(User.self, "new") == nil)
    // A response to a document of before is decoded, and its object has no key to be stored by.
    let older = try AQuery.response(from: Data(#"{"data": {"user": {"name": "O", "id": "9"}}}"#.utf8))
    let data = older.data!.user!
    let change = try dflat.write(User.self, Post.self) { try $0.store(older) }
    precondition(data.login == nil && change == BulkChange(), "\(change)")
    precondition(User(login: "o", data) == User(login: "o", id: "9", name: "O"))
    precondition(AQuery.Data.User(name: "O", id: "9") == data)
    // A list of objects with a key of their own.
    for code in [1, 2, 1] {
      try store(CQuery.self, #"""
        {"posts": [{"slug": "p", "items": [{"__typename": "Note", "code": \#(code), "text": "t"}]}]}
        """#, [.append(\.posts.items)])
    }
    precondition(dflat.find(Post.self, "p")!.items.map(\.code) == [1, 2])
    // The key of an interface or union has the type that its types say, whatever the entity's is.
    @MainActor func storedTicket(_ author: String, _ subject: String) throws -> Ticket {
      try store(DQuery.self, #"{"ticket": {"number": 1, "author": \#(author), "subject": \#(subject)}}"#)
      return dflat.find(Ticket.self, 1)!
    }
    var ticket = try storedTicket(
      #"{"__typename": "Person", "name": "P", "id": "u_1"}"#,
      #"{"__typename": "Page", "id": "p_1", "title": "T"}"#)
    precondition(ticket.author == .init(id: "u_1", subtype: .person(.init(name: "P"))), "\(ticket)")
    precondition(ticket.subject == .init(id: "p_1", subtype: .page(.init(title: "T"))), "\(ticket)")
    ticket = try storedTicket(
      #"{"__typename": "Robot", "name": "R", "robot": 7}"#,
      #"{"__typename": "Person", "id": "u_2", "name": "Q"}"#)
    precondition(ticket.author == .init(id: "7", subtype: .robot(.init(name: "R"))), "\(ticket)")
    precondition(ticket.subject == .init(id: "u_2", subtype: .person(.init(name: "Q"))), "\(ticket)")
    // An error in a key that may be null leaves the reference, and null clears it.
    func member(_ code: String) -> String { #"{"user": {"login": "lars", "club": {"code": \#(code), "name": "C"}}}"# }
    try store(EQuery.self, member(#""c""#))
    try store(EQuery.self, member("null") + #", "errors": [{"message": "e", "path": ["user", "club", "code"]}]"#)
    precondition(dflat.find(User.self, "lars")!.club == "c")
    try store(EQuery.self, member("null"))
    precondition(dflat.find(User.self, "lars")!.club == nil && dflat.find(Club.self, "c") != nil)
    print("all is well")
    """####

  @Test("are those of each type, and are selected where operations leave them out")
  func keysOfTypes() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations,
      Self.options + " --entity Club --primary-key Club=code",
      warning: "warning: 'code' is in the primary key of 'Club' and may be null")
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("may be in the configuration")
  func configured() throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(Self.operations, to: directory.appending(path: "o.graphql"))
      try GraphQL.write(
        """
        {"graphql": {"schema": "s.graphqls", "entities": ["User", "Post", "Ticket"], "primaryKey": "id",
          "primaryKeys": {"User": "login", "Post": "slug", "Item": "code", "Ticket": "number"},
          "evolve": false}}
        """, to: directory.appending(path: "dflat.json"))
      let run = try GraphQL.run(
        "--config \(directory.appending(path: "dflat.json").path())", ["o.graphql"], schemas: [],
        in: directory)
      let same = try GraphQL.run(Self.schema, Self.operations, Self.options)
      #expect(run.errors == "" && run.files == same.files, "\(run.errors)")
    }
  }

  /// The document of a query called Q on the Star Wars schema, without indentation.
  private func document(_ operations: String) throws -> [String] {
    let result = try StarWars.generate(operations)
    #expect(result.diagnostics.isEmpty, "\(result.diagnostics.map { $0.rendered() })")
    let file = try #require(result.files.first { $0.name == "QQuery_generated.swift" })
    let lines = file.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let start = try #require(lines.firstIndex { $0.hasSuffix("static let document = \"\"\"") })
    return Array(lines[(start + 1)...].prefix { $0 != "\"\"\"" })
  }

  @Test("are added to the document that is sent, once for each object")
  func documents() throws {
    #expect(
      try document("query Q { hero { name friends { name } } }") == [
        "query Q {", "hero {", "__typename", "id", "name", "friends {", "__typename", "id", "name",
        "}", "}", "}",
      ])
    // Where they are selected already, nothing is added; under a condition they may be left out.
    for selection in ["{ ...F }", "{ key: id name }", "{ ... { ... on Character { id } } name }"] {
      let lines = try document(
        "query Q { hero \(selection) heroes { ...F } } fragment F on Character { id name }")
      #expect(lines.count { $0 == "id" } == (selection.contains(" on") ? 2 : 1), "\(lines)")
    }
    #expect(
      try document("query Q($a: Boolean!) { hero { name id @include(if: $a) } }").filter {
        $0.hasPrefix("id")
      } == ["id", "id @include(if: $a)"])
    // A union has no fields.
    #expect(
      try document("query Q { search { ... on Human { name } ... on Starship { id name } } }")
        .contains("... on Character { id }"))
    // Nothing of an entity, and what is no entity.
    #expect(
      try !document("query Q { hero { __typename } search { __typename } }")
        .contains("id"))
  }

  @Test("change the versions of what refers to them")
  func versions() throws {
    func version(_ table: String, _ options: String) throws -> Substring {
      let run = try GraphQL.run(
        Self.schema, Self.operations, "--entity User --entity Post " + options)
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let text = try #require(run.files["Post_generated.fbs"])
      return try #require(text.firstMatch(of: Regex("table \(table) \\(v: \"(.*)\"\\)"))).output[1]
        .substring ?? ""
    }
    let byLogin = try version("Post", "--primary-key slug --primary-key User=login")
    #expect(try version("Post", "--primary-key slug --primary-key User=id") != byLogin)
    // The key that all types have needs no word.
    let login = "--primary-key login --primary-key Post=slug"
    #expect(try version("Post", login) == version("Post", "\(login) --primary-key User=login"))
  }

  @Test("may be given for an interface or union whose types have them")
  func keysOfMembers() throws {
    let named = try GraphQL.run(
      Self.schema, Self.operations,
      Self.options + " --primary-key Actor=id --primary-key Subject=id")
    #expect(named.status == 0 && named.errors == "", "\(named.errors)")
    #expect(try named.files == GraphQL.run(Self.schema, Self.operations, Self.options).files)
  }

  @Test(
    "of an interface are stored as numbers if operations have them as integers",
    arguments: ["Int", "Int64", "UInt8", "Date"])
  func mappedKeys(swift: String) throws {
    let schema = """
      scalar Long
      interface Item { id: Long! }
      type Book implements Item { id: Long!  pages: Int }
      type Home { id: Int!  item: Item }
      type Query { home: Home }
      """
    let run = try GraphQL.run(
      schema, "query A { home { id item { id ... on Book { pages } } } }",
      "--entity Home --primary-key id --scalar Long=long:\(swift)")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.files.values.joined().contains("id: string") == (swift == "Date"))
  }

  @Test(
    "are refused where they cannot be",
    arguments: [
      (
        "--primary-key Usr=login",
        "error: --primary-key Usr=login: the schema has no type of this name\nnote: did you mean 'User'?"
      ),
      (
        "--primary-key Item=kode",
        "error: --primary-key Item=kode: 'Item' has no field 'kode'\nnote: did you mean 'code'?"
      ),
      (
        "--primary-key Subject=di",
        "error: --primary-key Subject=di: 'Subject' has no field 'di'"
      ),
      ("--primary-key User=posts", "error: 'posts' cannot be the primary key of 'User'"),
    ])
  func refused(options: String, message: String) throws {
    let run = try GraphQL.run(
      Self.schema, Self.operations, "--entity User --entity Post --primary-key id \(options)")
    #expect(run.status == 1 && run.errors.contains(message), "\(run.errors)")
  }
}
