// Keys of several fields, and of fields of objects inside.

import DflatGenerator
import Foundation
import Testing

@Suite("Composite and nested keys of GraphQL entities")
struct CompositeKeyTests {
  private static let schema = """
    type Product {
      sku: String!  region: Int!  name: String  stock: Int  best: Product  similar: [Product!]
      entry: Entry  tags: [String!]!  note: String
    }
    type Order { id: Int!  product: Product  lines(after: String): Lines  target: Target  targets: [Target!] }
    type Lines { edges: [LineEdge]  pageInfo: PageInfo  count: Int }
    type LineEdge { cursor: String  node: Product }
    type PageInfo { endCursor: String  hasNextPage: Boolean! }
    type Sys { id: ID!  publishedAt: String  kind: Kind }
    type Kind { name: String! }
    type Entry { sys: Sys!  title: String  parent: Entry  parents: [Entry] }
    union Target = Product | Entry | Shop
    type Shop { town: String }
    interface Node { id: ID!  name: String }
    type User implements Node { id: ID!  name: String  friend: Node  pets: [Pet] }
    type Repo implements Node { id: ID!  name: String  stars: Int }
    interface Pet { code: Int!  farm: String!  name: String }
    type Cat implements Pet { code: Int!  farm: String!  name: String }
    type Dog implements Pet { code: Int!  farm: String!  name: String  size: Int }
    union Thing = User | Repo | Product
    type Query { product: Product  order: Order  entry: Entry  nodes: [Node]  user: User  things: [Thing]  pets: [Pet] }
    """

  private static let operations = """
    query Products { product { name best { stock } similar { sku name } entry { title } } }
    query Stock { product { sku region stock } }
    query Orders {
      order {
        id product { name } lines { edges { cursor node { name } } pageInfo { endCursor hasNextPage } }
        target { ... on Product { name } ... on Entry { title } ... on Shop { town } }
        targets { ...T }
      }
    }
    fragment T on Target { ... on Product { note } ... on Entry { sys { publishedAt } } }
    query Entries { entry { title sys { publishedAt kind { name } } parent { title } parents { title } } }
    query Nodes { nodes { name ... on Repo { stars } ... on User { friend { name } } } }
    query Me { user { id name friend { id } pets { code farm name ... on Dog { size } } } }
    query Things { things { ... on User { name } ... on Repo { name } ... on Product { name } } }
    """

  private static let options =
    "--entity Product --entity Order --entity Entry --entity Node --primary-key id "
    + "--primary-key Product=sku,region --primary-key Entry=sys.id --primary-key Node=__typename,id "
    + "--primary-key Pet=code,farm"

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor @discardableResult
    func store<O: GraphQLOperation>(
      _ type: O.Type, _ json: String, _ pages: [GraphQLPage<O.Data>] = []
    ) throws -> O.Data where O.Data: GraphQLStorable {
      let response = try O.response(from: Data("{\"data\": \(json)}".utf8))
      _ = try dflat.write(Product.self, Order.self, Entry.self, Node.self) {
        try $0.store(response, pages: pages)
      }
      return try response.requireData()
    }
    let products = try store(ProductsQuery.self, #"""
      {"product": {"sku": "a", "region": 1, "name": "A", "best": {"sku": "a", "region": 2, "stock": 5},
        "similar": [{"sku": "b", "region": 1, "name": "B"}, {"sku": "b", "region": 2, "name": "C"}],
        "entry": {"sys": {"id": "e"}, "title": "E"}}}
      """#)
    let a = dflat.find(Product.self, ("a", 1))!
    precondition(a.name == "A" && a.best == .init(sku: "a", region: 2), "\(a)")
    precondition(a.similar == [.init(sku: "b", region: 1), .init(sku: "b", region: 2)], "\(a)")
    precondition(a.entry == "e" && dflat.find(Entry.self, "e")!.title == "E", "\(a)")
    precondition(dflat.find(Product.self, ("a", 2))!.stock == 5)
    precondition(dflat.find(Product.self, ("b", 2))!.name == "C")
    try store(StockQuery.self, #"{"product": {"sku": "a", "region": 1, "stock": 7}}"#)
    precondition(dflat.find(Product.self, ("a", 1))!.name == "A" && dflat.find(Product.self, ("a", 1))!.stock == 7)
    // Whole objects: the key is a parameter where the operation does not select it.
    let whole = Product(sku: "a", region: 1, products.product!)
    precondition(whole.id == CompositeKey("a", 1) && whole.name == "A" && whole.entry == "e", "\(whole)")
    let stock = try StockQuery.response(from: Data(#"{"data": {"product": {"sku": "s", "region": 3, "stock": 1}}}"#.utf8))
    precondition(Product(stock.data!.product!) == Product(sku: "s", region: 3, stock: 1))

    // References in lists that page, in edges, and in unions.
    func page(_ sku: String, _ region: Int, _ target: String) -> String {
      #"""
      {"order": {"id": 1, "product": {"sku": "\#(sku)", "region": \#(region), "name": "n"},
        "lines": {"edges": [{"cursor": "\#(sku)\#(region)", "node": {"sku": "\#(sku)", "region": \#(region), "name": "n"}}],
          "pageInfo": {"endCursor": "\#(sku)", "hasNextPage": true}},
        "target": \#(target), "targets": [\#(target)]}}
      """#
    }
    try store(OrdersQuery.self, page("p", 1, #"{"__typename": "Product", "sku": "t", "region": 9, "name": "T", "note": "N"}"#))
    precondition(dflat.find(Order.self, 1)!.target?.subtype == .productReference(.init(sku: "t", region: 9)))
    for region in [2, 1, 3] {
      try store(
        OrdersQuery.self,
        page("p", region, #"{"__typename": "Entry", "sys": {"id": "x", "publishedAt": "now"}, "title": "X"}"#),
        [.append(\.order.lines)])
    }
    let order = dflat.find(Order.self, 1)!
    precondition(order.lines!.edges.map(\.node) == [1, 2, 3].map { .init(sku: "p", region: $0) }, "\(order)")
    precondition(order.product == .init(sku: "p", region: 3), "\(order)")
    precondition(order.target?.subtype == .entryReference(.init(sysId: "x")), "\(order)")
    precondition(dflat.find(Product.self, ("t", 9))!.note == "N" && dflat.find(Entry.self, "x")!.title == "X")
    precondition(order.targets.map(\.subtype) == [.entryReference(.init(sysId: "x"))], "\(order)")

    // A key in an object inside, which is a part of the data, too.
    try store(EntriesQuery.self, #"""
      {"entry": {"sys": {"id": "e", "publishedAt": "then", "kind": {"name": "k"}}, "title": "F",
        "parent": {"sys": {"id": "f"}, "title": "P"}, "parents": [{"sys": {"id": "f"}, "title": "P"}, null]}}
      """#)
    let entry = dflat.find(Entry.self, "e")!
    precondition(entry.title == "F" && entry.sys?.publishedAt == "then" && entry.sys?.kind?.name == "k", "\(entry)")
    precondition(entry.parent == "f" && entry.parents == ["f"] && dflat.find(Entry.self, "f")!.title == "P", "\(entry)")

    // Ids that are not global: objects of different types are different.
    try store(NodesQuery.self, #"""
      {"nodes": [{"__typename": "User", "id": "1", "name": "u", "friend": {"__typename": "Repo", "id": "1", "name": "r"}},
        {"__typename": "Repo", "id": "2", "name": "s", "stars": 3}, {"__typename": "Team", "id": "1", "name": "t"}]}
      """#)
    precondition(dflat.find(Node.self, ("Repo", "1"))!.subtype == .repo(.init(name: "r")))
    guard case .user(let user)? = dflat.find(Node.self, ("User", "1"))!.subtype else { fatalError() }
    precondition(user.name == "u" && user.friend == .init(typename: "Repo", id: "1"), "\(user)")
    precondition(dflat.find(Node.self, ("Team", "1")) != nil && dflat.fetch(for: Node.self).all().count == 4)
    // An object type has a name, too, which the document asks for.
    func me(_ pets: String) -> String {
      #"{"user": {"__typename": "User", "id": "1", "name": "v", "friend": null, "pets": [\#(pets)]}}"#
    }
    try store(MeQuery.self, me(#"{"__typename": "Cat", "code": 1, "farm": "f", "name": "c"}"#))
    try store(MeQuery.self, me(#"{"__typename": "Dog", "code": 1, "farm": "f", "name": "d"}"#), [.append(\.user.pets)])
    try store(MeQuery.self, me(#"{"__typename": "Dog", "code": 1, "farm": "g", "name": "e", "size": 2}"#), [.append(\.user.pets)])
    try store(MeQuery.self, me(#"{"__typename": "Cat", "code": 1, "farm": "f", "name": "x"}"#), [.append(\.user.pets)])
    guard case .user(let again)? = dflat.find(Node.self, ("User", "1"))!.subtype else { fatalError() }
    precondition(again.name == "v" && again.friend == nil, "\(again)")
    precondition(again.pets.map(\.farm) == ["f", "f", "g"] && again.pets.map(\.code) == [1, 1, 1], "\(again)")
    precondition(again.pets[0].subtype == .cat(.init(name: "x")), "\(again)")
    precondition(again.pets[1].subtype == .dog(.init(name: "d")), "\(again)")
    try store(ThingsQuery.self, #"""
      {"things": [{"__typename": "User", "id": "7", "name": "g"}, {"__typename": "Repo", "id": "7", "name": "h"},
        {"__typename": "Product", "sku": "z", "region": 1, "name": "Z"}]}
      """#)
    precondition(dflat.find(Node.self, ("User", "7"))!.subtype == .user(.init(name: "g")))
    precondition(dflat.find(Node.self, ("Repo", "7"))!.subtype == .repo(.init(name: "h")))
    precondition(dflat.find(Product.self, ("z", 1))!.name == "Z")
    print("all is well")
    """####

  @Test("identify stored objects, also in references, lists that page, and unions")
  func stored() throws {
    let output = try GraphQL.output(of: Self.program, Self.schema, Self.operations, Self.options)
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("are added to the document with the whole path, and once")
  func documents() throws {
    let run = try GraphQL.run(Self.schema, Self.operations, Self.options)
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    func document(_ name: String) throws -> String {
      let file = try #require(run.files["\(name)Query_generated.swift"])
      let text = try #require(file.firstMatch(of: /document = """\n([^"]*)"""/)?.output.1)
      return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    #expect(
      try document("Products").contains(
        "product { sku region name best { sku region stock } similar { region sku name } "
          + "entry { sys { id } title } }"))
    #expect(try document("Stock").contains("product { sku region stock }"))
    #expect(
      try document("Entries").contains(
        "entry { title sys { id publishedAt kind { name } } parent { sys { id } title }"))
    #expect(
      try document("Orders").contains(
        "fragment T on Target { ... on Product { note } ... on Entry { sys { id publishedAt } } }"))
    #expect(try document("Me").hasPrefix("query Me { user { __typename id name friend"))
  }

  @Test("are accepted by the server where they are added", arguments: ["Orders", "Entries", "Me"])
  func valid(name: String) throws {
    let run = try GraphQL.run(Self.schema, Self.operations, Self.options)
    let file = try #require(run.files["\(name)Query_generated.swift"])
    let text = try #require(file.firstMatch(of: /document = """\n([^"]*)"""/)?.output.1)
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.schema, to: directory.appending(path: "s"))
      try GraphQL.write(String(text), to: directory.appending(path: "d"))
      let judged = try Judge.run([
        "python3", "-c",
        """
        import sys, graphql
        schema, document = (open(path).read() for path in sys.argv[1:])
        print(graphql.validate(graphql.build_schema(schema), graphql.parse(document)))
        """, directory.appending(path: "s").path(), directory.appending(path: "d").path(),
      ])
      #expect(judged.output == "[]\n", "\(judged.output)")
    }
  }

  @Test("are lists or paths in the configuration")
  func configured() throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(Self.operations, to: directory.appending(path: "o.graphql"))
      try GraphQL.write(
        """
        {"graphql": {"schema": "s.graphqls", "entities": ["Product", "Order", "Entry", "Node"],
          "primaryKey": "id", "evolve": false, "primaryKeys": {"Product": ["sku", "region"],
          "Entry": "sys.id", "Node": ["__typename", "id"], "Pet": ["code", "farm"]}}}
        """, to: directory.appending(path: "dflat.json"))
      let run = try GraphQL.run(
        "--config \(directory.appending(path: "dflat.json").path())", ["o.graphql"], schemas: [],
        in: directory)
      let same = try GraphQL.run(Self.schema, Self.operations, Self.options)
      #expect(run.errors == "" && run.files == same.files, "\(run.errors)")
    }
  }

  @Test("are in the schema in their order, and in its version")
  func schemas() throws {
    let options = "--entity Product --primary-key "
    func schema(_ key: String, _ selection: String = "sku name") throws -> String {
      let run = try GraphQL.run(
        Self.schema, "query A { product { \(selection) best { name } } }", options + key)
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let text = try #require(run.files["Product_generated.fbs"])
      #expect(try GraphQL.complaints(about: ["Product_generated.fbs": text]) == "")
      return text
    }
    func version(_ text: String) throws -> Substring {
      try #require(text.firstMatch(of: /table Product \(v: "(\w+)"\)/)?.output.1)
    }
    let text = try schema("region,sku")
    #expect(
      text.contains(
        "{\n  region: long (primary);\n  sku: string (primary);\n  best: Product.Product"),
      "\(text)")
    // Whether an operation selects the key makes no difference.
    #expect(try schema("region,sku", "name") == text)
    #expect(try version(schema("sku,region")) != version(text))
    #expect(try version(schema("sku")) != version(text))
  }

  @Test(
    "are refused where they cannot be, each with its reason",
    arguments: [
      (
        "Product=sku,regio",
        "error: 'Product' has no field 'regio', which is in the primary key of 'Product'", 1
      ),
      ("Product=sku,regio", "did you mean 'region'?", 1),
      (
        "Product=sku,tags",
        "error: 'tags' cannot be in the primary key of 'Product': it is '[String!]!'", 1
      ),
      (
        "Product=sku,best",
        "error: 'best' cannot be in the primary key of 'Product': it is 'Product'", 1
      ),
      (
        "Product=sku,note",
        "warning: 'note' is in the primary key of 'Product' and may be null: objects without it are "
          + "not stored", 0
      ),
      ("Product=note", "warning: 'note' is in the primary key of 'Product' and may be null", 0),
      (
        "Product=entry.sys.id",
        "warning: 'entry.sys.id' is in the primary key of 'Product' and may", 0
      ),
      ("Product=sku,", "--primary-key cannot be 'sku,'; a key is a field", 64),
      ("Product=sku,sku", "--primary-key cannot be 'sku,sku'", 64),
      ("Pet=code,form", "error: --primary-key Pet=code,form: 'Pet' has no field 'form'", 1),
    ])
  func refused(key: String, message: String, status: Int32) throws {
    let run = try GraphQL.run(
      Self.schema, "query A { product { sku region stock } }",
      "--entity Product --primary-key id --primary-key \(key)")
    #expect(run.status == status && run.errors.contains(message), "\(run.errors)")
  }

  @Test("are refused for Apollo's classes, and beside a field of the same name")
  func refusedElsewhere() throws {
    let apollo = try GraphQL.run(
      Self.schema, "query A { product { sku region stock } }",
      "--entity Product --primary-key sku,region --client apollo")
    #expect(
      apollo.status == 1
        && apollo.errors.contains("the key 'sku,region' cannot be read from Apollo's classes"),
      "\(apollo.errors)")
    let same = try GraphQL.run(
      "type T { sys: S!  sysId: ID }  type S { id: ID! }  type Query { t: T }",
      "query A { t { sysId } }", "--entity T --primary-key sys.id")
    #expect(
      same.status == 1
        && same.errors.contains("'sysId' and its key 'sys.id' are the same in Swift"),
      "\(same.errors)")
  }

  @Test(
    "Entities on the way to a key are selected with their own keys",
    arguments: [
      ("t { k other { k } }", ["t { s { id v } k other { s { id v } k } }"]),
      ("t { k s { __typename } }", ["t { k s { id v __typename } }"]),
      ("t { ...F } } fragment F on T { k s { v }", ["t { ...F }", "F on T { k s { id v } }"]),
      ("u { ... on T { k } }", ["u { __typename ... on T { s { id v } } ... on T { k } }"]),
      ("w { k }", ["w { i { __typename id ... on J { n { id v } } } k }"]),
      // A key that comes back to its own type has no end.
      ("x { k }", ["x { x { id } k }"]), ("y { k }", ["y { z { id y { id } } k }"]),
    ])
  func nested(selection: String, expected: [String]) throws {
    let run = try GraphQL.run(
      """
      type S { id: ID!  v: Int!  t: T }  type T { s: S!  k: Int  other: T }  union U = T | S
      interface I { id: ID! }  type J implements I { id: ID!  n: S! }  type W { i: I!  k: Int }
      type X { x: X  id: ID!  k: Int }  type Y { z: Z  k: Int  id: ID! }  type Z { y: Y  id: ID! }
      type Query { t: T  u: U  w: W  x: X  y: Y }
      """, "query Q { \(selection) }",
      "--entity S --entity T --entity J --entity W --entity X --entity Y --entity Z "
        + "--primary-key S=v,id --primary-key T=s.id --primary-key J=n.id --primary-key W=i.id "
        + "--primary-key X=x.id --primary-key Y=z.id --primary-key Z=y.id")
    let text = try #require(run.files["QQuery_generated.swift"], "\(run.errors)")
    let document = text.split(separator: "\"\"\"")[1].split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    for part in expected { #expect(document.contains(part), "\(document)") }
    if !["x", "y"].contains(selection.prefix(1)) {
      #expect(!run.errors.contains("without their key"), "\(run.errors)")
    }
  }
}
