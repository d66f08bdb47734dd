// The schemas that `dflatc graphql` makes, worked out by hand.
//
// The versions are constants, computed with Python's hashlib from the texts beside them.

import Foundation
import Testing

@Suite("Entities of GraphQL")
struct EntityTests {
  static let works = """
    enum Genre { NOVEL POETRY }
    interface Work { id: ID!  title: String! }
    type Book implements Work { id: ID!  title: String!  pages: Int  genre: Genre! }
    type Album implements Work { id: ID!  title: String!  tracks: [String!]! }
    type Query { work: Work }
    """
  static let workDetails = """
    query WorkDetails { work { id title ... on Book { pages genre } ... on Album { tracks } } }
    """

  /// Album: `title:String,tracks:[String]`. Genre: `novel,poetry`. Book:
  /// `genre:<Genre>,pages:Int,title:String`. Work: `{<Book>,<Album>},{id:string}`.
  static let work = """
    namespace Work;
    table Album (v: "ce0552eab6d65151") {
      title: string;
      tracks: [string];
    }
    enum Genre: int {
      novel,
      poetry,
    }
    table Book (v: "8477ec269b3f2eac") {
      genre: Genre;
      pages: long;
      title: string;
    }
    union Subtype {
      Book,
      Album,
    }
    namespace;
    table Work (v: "5f2fbdc1150c637b") {
      id: string (primary);
      subtype: Work.Subtype;
    }
    root_type Work;

    """

  /// Runs the command, and has its schemas judged.
  private func schemas(
    _ schema: String, _ operations: String, _ options: String
  ) throws -> [String: String] {
    let run = try GraphQL.run(schema, operations, options)
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    let schemas = run.files.filter { $0.key.hasSuffix(".fbs") }
    #expect(try GraphQL.complaints(about: schemas) == "")
    #expect(try GraphQL.run(schema, operations, options).files == run.files)
    return schemas
  }

  @Test("have an interface as a union of the objects that implement it")
  func interface() throws {
    let schemas = try schemas(Self.works, Self.workDetails, "--entity Work --primary-key id")
    #expect(schemas == ["Work_generated.fbs": Self.work])
  }

  @Test("are the same from the JSON of an introspection query")
  func introspection() throws {
    let schema = """
      {"data": {"__schema": {"queryType": {"name": "Query"}, "types": [
        {"kind": "OBJECT", "name": "Query", "fields": [{"name": "a", "args": [],
          "type": {"kind": "OBJECT", "name": "A"}}], "interfaces": []},
        {"kind": "OBJECT", "name": "A", "interfaces": [], "fields": [{"name": "name", "args": [],
          "type": {"kind": "SCALAR", "name": "String"}}]},
        {"kind": "SCALAR", "name": "String"}], "directives": []}}}
      """
    #expect(
      try schemas(schema, "query A { a { name } }", "--entity A") == [
        "A_generated.fbs": """
        namespace A;
        namespace;
        table A (v: "b4c1cbae842c713d") {
          name: string;
        }

        """
      ])
  }

  static let users = """
    scalar DateTime
    scalar Count
    enum Color { RED DARK_BLUE }
    interface Node { id: ID! }
    type User implements Node {
      id: ID!  name: String  boss: User  staff: [User!]!  posts: [Post!]  color: Color!
      born: DateTime  visits: Count  grid: [[[Float]]!]  best: Media  unselected: Int
    }
    type Post implements Node { id: ID!  text: String!  author: User!  topics: [Topic!] }
    type Topic { title: String!  parent: Topic  posts: [Post!] }
    union Media = Photo | Video
    type Photo { url: String! }
    type Video { seconds: Int!  poster: Photo }
    type Query { me: User  node(id: ID!): Node }
    """
  static let me = """
    query Me {
      me {
        id name boss { id } staff { id } color born visits grid
        best { ... on Photo { url } ... on Video { seconds poster { url } } }
        posts { id text author { id } topics { title parent { title posts { id text } } } }
      }
    }
    """

  /// Photo: `url:String`. Video: `poster:<Photo>,seconds:Int`. Media:
  /// `{<Photo>,<Video>},{id:string}`. Color: `red,dark_blue`. Topic:
  /// `parent:Topic,posts:[Post],title:String`. Post: `author:string,text:String,topics:[<Topic>]`.
  /// FloatList: `values:[Float]`. FloatListList: `values:[[Float]]`. User:
  /// `best:<Media>,born:string,boss:string,color:<Color>,grid:[[[Float]]],id:ID!,name:String,
  /// posts:[<Post>],staff:[string],visits:long`.
  @Test("have custom scalars, unions, nested lists, circles, references and namespaces")
  func everything() throws {
    let schemas = try schemas(
      Self.users, Self.me, "--entity User --primary-key id --scalar Count=long")
    #expect(
      schemas["User_generated.fbs"] == """
        namespace User;
        table Topic (v: "d3b654c3487fcea9") {
          parent: Topic;
          posts: [Post];
          title: string;
        }
        table Post (v: "da190c6ec49c6aa6") {
          author: string;
          text: string;
          topics: [Topic];
        }
        table FloatList (v: "f1b8e36deb295b37") {
          values: [double];
        }
        table FloatListList (v: "6d797df0e1eaa737") {
          values: [FloatList];
        }
        enum Color: int {
          red,
          dark_blue,
        }
        table Photo (v: "14cd9f8c89245a72") {
          url: string;
        }
        table Video (v: "d0f332dd5b3728d1") {
          poster: Photo;
          seconds: long;
        }
        union MediaSubtype {
          Photo,
          Video,
        }
        table Media (v: "32cfcd3a510828de") {
          id: string;
          subtype: MediaSubtype;
        }
        namespace;
        table User (v: "614106f63db67435") {
          best: User.Media;
          born: string;
          boss: string (references: "User");
          color: User.Color;
          grid: [User.FloatListList];
          id: string (primary);
          name: string;
          posts: [User.Post];
          staff: [string] (references: "User");
          visits: long;
        }
        root_type User;

        """)
  }

  /// User: `id:ID!,posts:[string]`. Post: `author:string,id:ID!`.
  @Test("refer to each other by key")
  func severalEntities() throws {
    let schemas = try schemas(
      Self.users, "query A { me { id posts { id author { id } } } }",
      "--entity User --entity Post --primary-key id")
    #expect(
      schemas == [
        "User_generated.fbs": """
        include "Post_generated.fbs";
        namespace User;
        namespace;
        table User (v: "145ec435884763d9") {
          id: string (primary);
          posts: [string] (references: "Post");
        }
        root_type User;

        """,
        "Post_generated.fbs": """
        include "User_generated.fbs";
        namespace Post;
        namespace;
        table Post (v: "601af4eee0c27201") {
          author: string (references: "User");
          id: string (primary);
        }
        root_type Post;

        """,
      ])
  }

  static let things = """
    interface Named { name: String }
    type Thing implements Named { name: String  label: String }
    type Query { thing: Thing  named: Named }
    """

  /// Thing: `serial:long,name:String` and `name:String`. Named with the key:
  /// `{<Thing>},{serial: long}`, and without: `{<Thing>},`.
  @Test(
    "have a key that is added, or none",
    arguments: [
      ("--entity Thing --primary-key serial --primary-key-type Int64", "449adf8ced078ad1", true),
      ("--entity Thing", "b4c1cbae842c713d", false),
      ("--entity Named --primary-key serial --primary-key-type Int64", "30db5ca1d0b9c301", true),
      ("--entity Named", "93366d74ed6982e4", false),
    ])
  func keys(options: String, version: String, isStored: Bool) throws {
    let schemas = try schemas(
      Self.things, "query A { thing { name } named { name } }", options)
    let text = try #require(schemas.values.first)
    #expect(text.contains("(v: \"\(version)\")"), "\(text)")
    #expect(text.contains("{\n  serial: long (primary);\n") == isStored)
    #expect(text.contains("root_type") == isStored)
  }

  @Test("have the fields of fragments, aliases, and wider selections of the same objects")
  func selections() throws {
    let operations = """
      query A { node(id: 1) { ... on User { nick: name ...B } id } }
      query C { node(id: 1) { ... on Post { text } } }
      fragment B on User { ... { visits } ... on Node { id } best { __typename } }
      """
    let text = try #require(
      try schemas(Self.users, operations, "--entity User --primary-key id")["User_generated.fbs"])
    #expect(
      text.split(separator: "\n").suffix(7).map { $0.trimmingPrefix("  ") } == [
        text.split(separator: "\n").first { $0.hasPrefix("table User ") } ?? "",
        "best: User.Media;", "id: string (primary);", "name: string;", "visits: string;", "}",
        "root_type User;",
      ])
    #expect(text.contains("table Photo (v: \"e3b0c44298fc1c14\") {\n}"))
  }

  @Test("have the fields that are selected on another interface of the same objects")
  func otherInterfaces() throws {
    let schema = """
      interface Owner { ships: [Int] }
      interface Character { id: ID!  name: String }
      type Human implements Character & Owner { id: ID!  name: String  ships: [Int]  age: Int }
      type Droid implements Character { id: ID!  name: String  ships: [Int] }
      type Shop implements Owner { ships: [Int] }
      union Found = Human | Droid | Shop
      type Query { search: Found }
      """
    let operations = "query A { search { ... on Owner { ships } ... on Character { id name } } }"
    let text = try #require(
      try schemas(schema, operations, "--entity Character --primary-key id").values.first)
    let tables = text.split(separator: "table ").map { $0.filter { !$0.isWhitespace } }
    #expect(tables.contains { $0.hasPrefix("Human") && $0.contains("{name:string;ships:[long];}") })
    #expect(tables.contains { $0.hasPrefix("Droid") && $0.contains("{name:string;}") })
  }

  /// Other: `title:String`. Any: `{User,<Other>},{id:string}`. User: `best:<Any>,id:ID!`.
  @Test("are keys where they are members of a union or interface of theirs")
  func ownMember() throws {
    let schema = """
      union Any = User | Other
      type User { id: ID!  best: Any }
      type Other { title: String }
      type Query { user: User }
      """
    let operations = "query A { user { id best { ... on User { id } ... on Other { title } } } }"
    #expect(
      try schemas(schema, operations, "--entity User --primary-key id") == [
        "User_generated.fbs": """
        namespace User;
        table Other (v: "0f98dc006bf3a590") {
          title: string;
        }
        table UserReference (v: "155fc5ec2e7ba41c") {
          id: string;
        }
        union AnySubtype {
          UserReference,
          Other,
        }
        table Any (v: "49a5a4328cd2d528") {
          id: string;
          subtype: AnySubtype;
        }
        namespace;
        table User (v: "4f0b0859ceb8b6b6") {
          best: User.Any;
          id: string (primary);
        }
        root_type User;

        """
      ])
  }

  @Test("may be deep, wide and circular")
  func large() throws {
    // Operations of our own client may be 200 levels deep.
    let count = 150
    let types = (0..<count).map { "type T\($0) { n: Int  next: T\(($0 + 1) % count)  e: E }" }
    let schema = (types + ["type E { id: ID!  t: T0 }", "type Query { e: E }"]).joined()
    let fragments = (0..<count).map { number in
      "fragment F\(number) on T\(number) { n next { "
        + (number + 1 < count ? "...F\(number + 1)" : "n") + " } }"
    }
    let operations = (["query A { e { id t { ...F0 } } }"] + fragments).joined(separator: "\n")
    let run = try GraphQL.run(schema, operations, "--entity E --primary-key id")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.files["E_generated.fbs"]?.contains("next: T\(count - 1);") == true)
  }
}
