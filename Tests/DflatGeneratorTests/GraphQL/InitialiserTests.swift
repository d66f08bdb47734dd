// Initialisers from Apollo's classes are compiled against stand-ins of these, and run. Those from
// our own structures make the same objects.

import Foundation
import Testing

@testable import DflatGenerator

@Suite("Initialisers of entities")
struct InitialiserTests {
  @Test(
    "make the objects that are expected",
    arguments: [
      ("classic", "--client apollo-classic"),
      ("current", "--client apollo --api-namespace HeroesAPI"),
      ("own", ""),
    ])
  func runs(standIn: String, options: String) throws {
    try withTemporaryDirectory { directory in
      try prepare(directory, options)
      let sources = ["\(standIn)_generated.swift": "Classes.swift", "heroes.swift": "main.swift"]
      for (from, to) in sources {
        try FileManager.default.copyItem(
          at: GraphQL.programs.appending(path: from),
          to: directory.appending(path: "program/\(to)"))
      }
      let others = Place.tests.deletingLastPathComponent().appending(path: "ApolloAPI")
      let result = try Judge.runProgram(
        in: directory.appending(path: "program"),
        with: ["ApolloAPI": others].merging(Place.modules("DflatGraphQL")) { own, _ in own })
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output == "all is well\n")
      let program = directory.appending(path: "program")
      try FileManager.default.removeItem(at: program.appending(path: "main.swift"))
      #expect(try Judge.complaints(about: program, .swift5) == "")
    }
  }

  static let wholes = """
    interface Node { id: Int! }
    interface Labelled { text: String! }
    enum Kind { ONE TWO }
    type Item implements Node {
      id: Int!  name: String  kind: Kind!  class: Boolean  other: Item  items: [Item]  note: Note
      let: [Int]  inout: [Kind!]
    }
    type Note implements Node & Labelled { id: Int!  text: String!  item: Item }
    union Thing = Item | Note | Rest
    type Rest { x: Int }
    type Query { node: Node  item: Item  thing: Thing }
    """

  @Test("make whole objects of our own structures, or nothing of objects of other types")
  func wholes() throws {
    try withTemporaryDirectory { directory in
      try prepare(
        directory, "--entity Item --primary-key id", Self.wholes,
        """
        query Views { node { ... on Item { id name items { id } } } }
        query Names { node { id } }
        query Keyless { item { name note { text item { id } } class } }
        query Maybe($a: Boolean!) { item { key: id @include(if: $a) other { id } kind } }
        query Words { item { let inout id } }
        query Wide { thing { ... on Node { id } } }
        query Both { thing { ... on Node { id ... on Item { kind } } } }
        query Again { node { id ... on Item { id } } thing { ... on Item { __typename } } }
        query Union { thing { ... on Item { id kind } ... on Note { id text } ... on Rest { x } } }
        """)
      let program = directory.appending(path: "program")
      try GraphQL.write(
        """
        let views = ViewsQuery.Data.Node(
          __typename: "Item", asItem: .init(id: 3, name: "a", items: [nil, .init(id: 4)]))
        precondition(Item(views) == Item(id: 3, items: ["4"], name: "a"))
        precondition(Item(ViewsQuery.Data.Node(__typename: "Note", asItem: nil)) == nil)
        precondition(Item(NamesQuery.Data.Node(__typename: "Item", id: 5)) == Item(id: 5))
        precondition(Item(NamesQuery.Data.Node(__typename: "Note", id: 5)) == nil)
        let keyless = KeylessQuery.Data.Item(
          name: "b", note: .init(text: "t", item: .init(id: 9)), class: true)
        precondition(
          Item(id: 7, keyless)
            == Item(id: 7, class: true, name: "b", note: Item.Note(item: "9", text: "t")))
        precondition(Item(MaybeQuery.Data.Item(key: nil, other: nil, kind: .one)) == nil)
        let maybe = MaybeQuery.Data.Item(key: 1, other: .init(id: 2), kind: .unknown("x"))
        precondition(Item(maybe) == Item(id: 1, kind: .one, other: "2"))
        let thing = UnionQuery.Data.Thing(
          __typename: "Item", asItem: .init(id: 8, kind: .two), asNote: nil, asRest: nil)
        precondition(Item(thing) == Item(id: 8, kind: .two))
        precondition(
          Item(WideQuery.Data.Thing(__typename: "Item", asNode: .init(id: 9))) == Item(id: 9))
        precondition(Item(WideQuery.Data.Thing(__typename: "Note", asNode: .init(id: 9))) == nil)
        let both = BothQuery.Data.Thing(
          __typename: "Item", asNode: .init(id: 9), asItem: .init(id: 9, kind: .two))
        precondition(Item(both) == Item(id: 9, kind: .two))
        precondition(Item(AgainQuery.Data.Node(__typename: "Note", id: 5, asItem: nil)) == nil)
        precondition(
          Item(AgainQuery.Data.Node(__typename: "Item", id: 5, asItem: .init())) == Item(id: 5))
        let words = WordsQuery.Data.Item(let: [1, nil], `inout`: [.two], id: 6)
        precondition(Item(words) == Item(id: 6, `inout`: [.two], let: [1]))
        print("all is well")
        """, to: program.appending(path: "main.swift"))
      let result = try Judge.runProgram(in: program, with: Place.modules("DflatGraphQL"))
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output == "all is well\n")
      try FileManager.default.removeItem(at: program.appending(path: "main.swift"))
      #expect(try Judge.complaints(about: program, .mainActor) == "")
    }
  }

  @Test("have the key of a union in its own type, and import no more than they need")
  func keysOfUnions() throws {
    try withTemporaryDirectory { directory in
      try prepare(
        directory, "--entity Thing --primary-key id --client apollo", Self.wholes,
        "query K { thing { ... on Item { id } ... on Note { id } } }")
      let program = directory.appending(path: "program")
      try GraphQL.write(
        """
        public enum KQuery {
          public struct Data {
            public struct Thing {
              public var __typename: String
              public var asItem: AsItem?
              public var asNote: AsNote?
              public struct AsItem { public var __typename: String; public var id: Int }
              public struct AsNote { public var __typename: String; public var id: Int }
            }
          }
        }
        func thing(_ a: KQuery.Data.Thing) -> Thing? { Thing(a) }
        """, to: program.appending(path: "Classes.swift"))
      #expect(try Judge.complaints(about: program, .swift6) == "")
    }
  }

  @Test("make plain values of entities without keys")
  func plainValues() throws {
    try withTemporaryDirectory { directory in
      try prepare(
        directory, "--entity Item --entity Thing", Self.wholes,
        """
        query A { item { name note { text item { name } } kind } }
        query B { thing { ... on Item { name kind } ... on Note { text } } }
        query C { node { id } }
        """)
      let program = directory.appending(path: "program")
      try GraphQL.write(
        """
        func values(_ a: AQuery.Data.Item, _ b: BQuery.Data.Thing) -> (Item, Thing?) {
          (Item(a), Thing(b))
        }
        """, to: program.appending(path: "Use.swift"))
      #expect(try Judge.complaints(about: program, .swift6) == "")
    }
  }

  @Test("have a file only if a selection reaches the entity")
  func unreached() throws {
    for client in ["dflat", "apollo", "apollo-classic"] {
      let run = try GraphQL.run(
        Self.wholes, "query A { item { id } }",
        "--entity Item --entity Note --primary-key id --client \(client)")
      #expect(run.files["Item_inits_generated.swift"] != nil)
      #expect(run.files["Note_inits_generated.swift"] == nil)
    }
  }

  /// Writes everything that is generated for the heroes into the folder `program`.
  func prepare(_ directory: URL, _ options: String) throws {
    let heroes = GraphQL.programs.appending(path: "heroes.graphql").path()
    try prepare(
      directory, "--entity Character --primary-key id " + options,
      text(of: URL(filePath: heroes + "s")), text(of: URL(filePath: heroes)))
  }

  /// Writes everything that is generated for texts into the folder `program`.
  func prepare(
    _ directory: URL, _ options: String, _ schema: String, _ operations: String
  ) throws {
    try GraphQL.write(schema, to: directory.appending(path: "s.graphqls"))
    try GraphQL.write(operations, to: directory.appending(path: "o.graphql"))
    let run = try GraphQL.run(options, ["o.graphql"], schemas: ["s.graphqls"], in: directory)
    #expect(run.status == 0, "\(run.errors)")
    let program = directory.appending(path: "program")
    try FileManager.default.createDirectory(at: program, withIntermediateDirectories: true)
    for name in run.files.keys where name.hasSuffix(".fbs") {
      try generate(directory.appending(path: "out/\(name)"), into: program)
    }
    for (name, text) in run.files where name.hasSuffix(".swift") {
      try GraphQL.write(text, to: program.appending(path: name))
    }
  }

  @Test(
    "have the names that Apollo's generators give",
    arguments: [
      ("heroURLName", "heroUrlName", "HeroUrlName"), ("URL", "url", "Url"),
      ("created_at", "createdAt", "CreatedAt"), ("_private_", "_private_", "_Private_"),
      ("part2b", "part2b", "Part2b"), ("part_2b", "part_2b", "Part_2b"), ("ID", "id", "Id"),
      ("HTTPServer2Go", "httpServer2Go", "HttpServer2Go"), ("a", "a", "A"),
      ("__typename", "__typename", "__Typename"), ("NEW_HOPE", "newHope", "NewHope"),
      ("v2Beta", "v2Beta", "V2Beta"), ("___", "___", "___"),
    ])
  func names(name: String, camel: String, pascal: String) {
    #expect(NameCase.camel(name) == camel)
    #expect(NameCase.pascal(name) == pascal)
  }

  @Test(
    "have nouns in the singular",
    arguments: [
      ("friends", "friend"), ("heroes", "hero"), ("Categories", "Category"), ("boxes", "box"),
      ("status", "status"), ("statuses", "status"), ("addresses", "address"), ("news", "news"),
      ("people", "person"), ("People", "Person"), ("children", "child"), ("series", "series"),
      ("wolves", "wolf"), ("knives", "knife"), ("media", "medium"), ("analyses", "analysis"),
      ("bus", "bus"), ("buses", "bus"), ("indices", "index"), ("movies", "movie"),
      ("address", "address"), ("hero", "hero"), ("matrices", "matrix"), ("days", "day"),
      ("houses", "house"), ("mice", "mouse"), ("allChildren", "allChild"), ("s", "s"),
    ])
  func singular(plural: String, singular: String) {
    #expect(Singular.of(plural) == singular)
  }

  @Test("know mutations, integers as keys, other entities, and names that Swift reserves")
  func oddities() throws {
    let schema = """
      interface Node { id: Int! }
      type A implements Node { id: Int!  default: String  init: Int  best: Any  node: Node }
      type B implements Node { id: Int!  a: A!  as: [A]  URL: String }
      union Any = A | B | C
      type C { x: Int }
      type Query { a: A }
      type Mutation { make: B }
      type Subscription { madeURL: B }
      """
    let operations = """
      query First {
        a { id default init best { ... on A { id } ... on C { x } } node { id } }
      }
      mutation Make { make { id a { id } as { id default } URL } }
      subscription MadeSubscription { madeURL { key: id } }
      """
    func inits(_ client: String) throws -> [String: String] {
      let run = try GraphQL.run(
        schema, operations, "--entity A --entity B --primary-key id --client \(client)")
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      return run.files.mapValues { $0.filter { !$0.isWhitespace } }
    }
    let classic = try inits("apollo-classic")
    let a = try #require(classic["A_inits_generated.swift"])
    let b = try #require(classic["B_inits_generated.swift"])
    for text in [
      "init(_obj:FirstQuery.Data.A)", "init(_obj:MakeMutation.Data.Make.A)",
      "letid:Int64?=(obj.asA?.id).map{Int64($0)}", "default:obj.`default`",
      "let`init`:Int64?=obj.`init`.map{Int64($0)}",
      "case\"A\":self=.aReference(A.AReference(id:Int64(obj.id)))",
      "case\"B\":self=.bReference(A.BReference(id:nil))",
    ] {
      #expect(a.contains(text), "\(text): \(a)")
    }
    for text in [
      "let`as`:[String]?=obj.`as`?.compactMap{($0?.id).map{String($0)}}",
      "self.init(id:Int64(obj.id),URL:obj.url,a:String(obj.a.id),as:`as`)",
      "init(_obj:MadeSubscriptionSubscription.Data.MadeUrl){self.init(id:Int64(obj.key))}",
    ] {
      #expect(b.contains(text), "\(text): \(b)")
    }
    let current = try #require(try inits("apollo")["B_inits_generated.swift"])
    #expect(
      current.contains(
        "init(_obj:MadeSubscription.Data.MadeURL){self.init(id:Int64(obj.key))}"), "\(current)")
  }

  @Test("follow conditions: ifX in Apollo iOS 1.x, optional properties before")
  func conditional() throws {
    let schema = """
      interface Item { id: ID!  name: String!  count: Int! }
      type Thing implements Item { id: ID!  name: String!  count: Int! size: Int! }
      type Other implements Item { id: ID!  name: String!  count: Int! }
      type Query { item: Item }
      """
    let operations = """
      query A($a: Boolean!) {
        item {
          id
          ... @include(if: $a) { name }
          ... on Thing @skip(if: $a) { size }
          count @include(if: $a)
        }
      }
      """
    func inits(_ client: String) throws -> String {
      let run = try GraphQL.run(
        schema, operations, "--entity Item --primary-key id --client \(client)")
      #expect(run.status == 0, "\(run.errors)")
      return try #require(run.files["Item_inits_generated.swift"])
    }
    let current = try inits("apollo")
    #expect(current.contains("name: obj.ifA?.name"), "\(current)")
    #expect(current.contains("(obj.asThingIfNotA?.size).map { Int64($0) }"))
    #expect(current.contains("obj.count.map { Int64($0) }"))
    let classic = try inits("apollo-classic")
    #expect(classic.contains("init(_ obj: AQuery.Data.Item.AsThing)"), "\(classic)")
    #expect(classic.contains("name: obj.name"))
  }
}
