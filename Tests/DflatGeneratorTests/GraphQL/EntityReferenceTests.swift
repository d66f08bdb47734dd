// How entities refer to each other, and to the types in their namespaces.

import DflatGenerator
import Foundation
import Testing

@Suite("References of GraphQL entities")
struct EntityReferenceTests {
  @Test("need no namespace by hand if Swift spells their names in another way")
  func underscores() throws {
    let schema = """
      interface blog_post { id: ID!  note_: Note_Text }
      type long_post implements blog_post { id: ID!  note_: Note_Text  other_post: blog_post }
      type Note_Text { text: String }
      type Query { post: blog_post  long: long_post }
      """
    let operations = """
      query A { post { id note_ { text } ... on long_post { other_post { id } } } }
      query B { long { id note_ { text } } }
      """
    try withTemporaryDirectory { directory in
      try GraphQL.write(schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(operations, to: directory.appending(path: "a.graphql"))
      let run = try GraphQL.run(
        "--entity blog_post --entity long_post --primary-key id", ["a.graphql"],
        schemas: ["s.graphqls"], in: directory)
      #expect(run.status == 0, "\(run.errors)")
      let out = directory.appending(path: "out").path()
      let schemas = ["blog_post", "long_post"].map { "\(out)/\($0)_generated.fbs" }
      var errors = ""
      let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
      #expect(command.run(["compile", "-o", out] + schemas) == 0, "\(errors)")
      // What the plugin adds, and the option that declares namespaces.
      #expect(command.run(["module", "-o", out] + schemas) == 0, "\(errors)")
      #expect(try Judge.complaints(about: directory.appending(path: "out"), .swift6) == "")
      #expect(
        command.run(["compile", "--declare-namespaces", "-o", out] + schemas) == 0, "\(errors)")
      #expect(try Judge.complaints(about: directory.appending(path: "out"), .swift6) == "")
    }
  }

  @Test("refer by text with hashed versions, and by key where they evolve")
  func references() throws {
    let schema = """
      type Item { id: Int!  other: Item  others: [Item]  node: Node }
      type Node { id: ID!  item: Item }
      type Query { item: Item  node: Node }
      """
    let operations = "query A { item { id other { id } others { id } node { id item { id } } } }"
    func item(_ options: String) throws -> (text: String, inits: String) {
      let run = try GraphQL.run(
        schema, operations, "--entity Item --entity Node --primary-key id " + options)
      #expect(run.status == 0, "\(run.errors)")
      return (
        try #require(run.files["Item_generated.fbs"]),
        try #require(run.files["Item_inits_generated.swift"])
      )
    }
    let hashed = try item("--hash-versions")
    #expect(try item("") == hashed)
    // id:Int!,node:string,other:string,others:[string]
    #expect(
      hashed.text == """
        include "Node_generated.fbs";
        namespace Item;
        namespace;
        table Item (v: "4ecbe726320ddb17") {
          id: long (primary);
          node: string (references: "Node");
          other: string;
          others: [string];
        }
        root_type Item;

        """)
    #expect(hashed.inits.contains("obj.other.map { String($0.id) }"), "\(hashed.inits)")
    let evolving = try item("--evolve").text
    for line in [
      "other: long = null (id: 2, references: \"Item\");",
      "others: [long] (id: 3, references: \"Item\");",
    ] {
      #expect(evolving.contains(line), "\(evolving)")
    }
  }

  @Test("tell an object without a reference from one that refers to the key 0")
  func noReference() throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(
        """
        type Item { id: Int!  other: Item  others: [Item] }
        type Query { item: Item }
        """, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(
        "query A { item { id other { id } others { id } } }",
        to: directory.appending(path: "a.graphql"))
      let run = try GraphQL.run(
        "--entity Item --primary-key id --evolve", ["a.graphql"], schemas: ["s.graphqls"],
        in: directory)
      #expect(run.status == 0, "\(run.errors)")
      let fbs = "Item_generated.fbs"
      #expect(try GraphQL.complaints(about: [fbs: try #require(run.files[fbs])]) == "")
      // Once more, after the committed schema.
      let next = try GraphQL.run(
        "--entity Item --primary-key id --evolve", ["a.graphql"], schemas: ["s.graphqls"],
        in: directory)
      #expect(next.status == 0 && next.files == run.files && next.errors == "", "\(next.errors)")
      let program = directory.appending(path: "program")
      for (name, text) in run.files where name.hasSuffix(".swift") {
        try GraphQL.write(text, to: program.appending(path: name))
      }
      try generate(directory.appending(path: "out/Item_generated.fbs"), into: program)
      try GraphQL.write(
        """
        import Dflat
        import DflatGraphQL
        import MemoryDflat

        typealias Selected = AQuery.Data.Item
        let none = Selected(id: 1, other: nil, others: nil)
        let zero = Selected(id: 2, other: .init(id: 0), others: [.init(id: 0), nil])
        precondition(Item(none).other == nil && Item(none).others == [])
        precondition(Item(zero).other == 0 && Item(zero).others == [0])
        let dflat = MemoryWorkspace()
        let change = try dflat.write(Item.self) { try $0.store([zero, none]) }
        precondition(change == BulkChange(inserted: 3), "\\(change)")
        precondition(dflat.find(Item.self, 1)!.other == nil && dflat.find(Item.self, 2)!.other == 0)
        // Null clears.
        try dflat.write(Item.self) { _ = try $0.store(Selected(id: 2, other: nil, others: [])) }
        precondition(dflat.find(Item.self, 2)! == Item(id: 2))
        let related = dflat.fetch(for: Item.self).where(Item.other.id == 0)
        precondition(related.isEmpty)
        print("all is well")
        """, to: program.appending(path: "main.swift"))
      let result = try Judge.runProgram(
        in: program, with: Place.modules("DflatGraphQL", "MemoryDflat"))
      #expect(result.output == "all is well\n", "\(result.output)")
    }
  }

  /// Types that are called like tables of a database, and so are the fields that lead to them.
  private static func tables(_ users: String, _ posts: String) -> String {
    """
    type users { id: ID!  name: String  \(users) }
    type posts { id: ID!  title: String  \(posts) }
    type comments { id: ID!  post: posts  author: users  text: String }
    type Query { users: [users]  comments: [comments] }
    """
  }

  @Test(
    "are no relations where FlatBuffers would find a field that is called like a table",
    arguments: [
      (
        "posts: [posts!]!  user: users", "user: users", "name user { id } posts { id user { id } }",
        ["user: string", "posts: [string];", "user: string (references: \"users\")"]
      ),
      // A field that is no reference, whose schema includes the table through another one.
      (
        "posts: Int  comments: [comments]", "user: users", "posts comments { id }",
        ["posts: long;", "comments: [string];", "post: string (references: \"posts\")"]
      ),
      // Its own schema is all right; one that includes it behind the table is not.
      (
        "posts: Int", "other: posts", "posts",
        ["posts: long;", "post: string (references: \"posts\")", "author: string;"]
      ),
    ])
  func namesOfTables(
    users: String, posts: String, selection: String, lines: [String]
  ) throws {
    let run = try GraphQL.run(
      Self.tables(users, posts),
      """
      query A { users { id \(selection) } }
      query B { comments { id post { title } author { name } } }
      """, "--entity users --entity posts --entity comments --primary-key id")
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    let schemas = run.files.filter { $0.key.hasSuffix(".fbs") }
    for line in lines { #expect(schemas.values.contains { $0.contains(line) }, "\(schemas)") }
    #expect(try GraphQL.complaints(about: schemas) == "", "\(schemas)")
  }

  @Test("are stored all the same where they are no relations")
  func storedNamesOfTables() throws {
    let output = try GraphQL.output(
      of: ###"""
        import Dflat
        import DflatGraphQL
        import Foundation
        import MemoryDflat

        let dflat = MemoryWorkspace()
        let response = try AQuery.response(from: Data(#"""
          {"data": {"users": [{"id": "u", "posts": [{"id": "p", "title": "T", "user": {"id": "u"}}]}]}}
          """#.utf8))
        try dflat.write(users.self, posts.self) { _ = try $0.store(response) }
        precondition(dflat.find(users.self, "u")!.posts == ["p"])
        precondition(dflat.find(posts.self, "p")!.user == "u")
        print("all is well")
        """###, Self.tables("posts: [posts!]!", "user: users"),
      "query A { users { id posts { id title user { id } } } }",
      "--entity users --entity posts --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }

  /// Fields that are called like their own table.
  private static let status = """
    type status { id: ID!  status: String!  tint: color  status_: Int }
    type color { color: Int!  tone: shade  shades: [shade!]!  more: [[shade!]!] }
    type shade { shade: shade  dark: Boolean! }
    type users { id: ID!  users: [users!]!  status: status }
    type Query { users: [users]  status: status }
    """

  @Test("have names with an underscore where FlatBuffers would find a field called like a table")
  func ownNames() throws {
    let operations =
      "query A { users { id users { id } status { id status tint { color tone { dark shade { dark } } "
      + "shades { dark } more { dark } } } } }"
    let options = "--entity users --entity status --primary-key id"
    let run = try GraphQL.run(Self.status, operations, options)
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    let schemas = run.files.filter { $0.key.hasSuffix(".fbs") }
    for line in [
      "status_: string;", "color_: long;", "shade_: shade;", "shades: [shade];", "status: string;",
      "users_: [string] (references: \"users\");",
    ] { #expect(schemas.values.contains { $0.contains("  \(line)") }, "\(line) \(schemas)") }
    #expect(try GraphQL.complaints(about: schemas) == "", "\(schemas)")
    let both = try GraphQL.run(
      Self.status, "query A { status { id status status_ } }", "--entity status --primary-key id")
    #expect(both.errors.contains("'status' and 'status_' are the same in Swift"), "\(both.errors)")
    let output = try GraphQL.output(
      of: ###"""
        import Dflat
        import DflatGraphQL
        import Foundation
        import MemoryDflat

        let dflat = MemoryWorkspace()
        for shade in [#"{"dark": true, "shade": {"dark": false}}"#, #"{"dark": false, "shade": null}"#] {
          let response = try AQuery.response(from: Data(#"""
            {"data": {"users": [{"id": "u", "users": [{"id": "v"}], "status": {"id": "s", "status": "new",
              "tint": {"color": 3, "tone": \#(shade), "shades": [\#(shade), \#(shade)], "more": [[\#(shade)]]}}}]}}
            """#.utf8))
          _ = try dflat.write(users.self, Generated.status.self) { try $0.store(response) }
          let status = dflat.find(Generated.status.self, "s")!
          let isFirst = shade.contains("true")
          precondition(status.status_ == "new" && status.tint?.color_ == 3, "\(status)")
          precondition(status.tint?.tone?.dark == isFirst, "\(status)")
          precondition((status.tint?.tone?.shade_ != nil) == isFirst, "\(status)")
          precondition(status.tint?.shades.map(\.dark) == [isFirst, isFirst], "\(status)")
          precondition(try! dflat.query(Generated.status.self).where(Generated.status.status_ == "new").count() == 1)
          precondition(dflat.find(users.self, "u")!.users_ == ["v"] && dflat.find(users.self, "v") != nil)
          let whole = Generated.status(response.data!.users![0]!.status!)
          precondition(whole.status_ == "new" && whole.tint == status.tint, "\(whole)")
        }
        print("all is well")
        """###, Self.status, operations, options)
    #expect(output == "all is well\n", "\(output)")
  }
}
