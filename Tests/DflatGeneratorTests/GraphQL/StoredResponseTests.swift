// What responses are stored as in rare cases: entities in entities, keys of unions, own types for
// scalars, and names that something else has already.

import DflatGenerator
import Foundation
import Testing

@Suite("Stored responses")
struct StoredResponseTests {
  private static let schema = #"""
    scalar When
    interface Being { id: ID!  name: String! }
    type Man implements Being { id: ID!  name: String!  born: When  parts: [Part] }
    type Robot implements Being { id: ID!  name: String!  part: Part  type: Type }
    union Part = Wheel | Arm
    type Wheel { id: Int!  size: Int }
    type Arm { id: Int!  joints: Int }
    type Type { text: String  kind: Protocol }
    enum Protocol { Type Self }
    input FindQuery { text: String = "\\"  more: FindQuery  way: Way }
    input Way @oneOf { id: ID  self: [Int]  way: Way  first_name: String }
    type Query { beings(like: FindQuery): [Being]  robot(text: String): Robot  type: Type }
    """#

  private static let operations = ###"""
    query Find($like: FindQuery) {
      beings(like: $like) { id name ... on Man { born parts { ...Sizes } } ... on Robot { part { ...Sizes } } }
    }
    fragment Sizes on Part { ... on Wheel { id size } ... on Arm { id joints } }
    query Slash {
      robot(text: "a\\b\"\"\"#\\##c\u00e9\n") { id name type { text kind } }
    }
    """###

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    func store<O: GraphQLOperation>(_ type: O.Type, _ json: String) throws -> BulkChange
    where O.Data: GraphQLStorable {
      let data = try O.response(from: Data(json.utf8)).requireData()
      return try dflat.write(Being.self, Man.self) { try $0.store(data) }
    }
    let found = try store(FindQuery.self, """
      {"data": {"beings": [
        {"__typename": "Man", "id": "1", "name": "Lars", "born": "2024-02-29T12:00:00Z",
         "parts": [{"__typename": "Wheel", "id": 7, "size": 3}, {"__typename": "Arm", "id": 8, "joints": 2}]},
        {"__typename": "Robot", "id": "2", "name": "Marvin", "part": {"__typename": "Arm", "id": 9, "joints": null}}
      ]}}
      """)
    precondition(found == BulkChange(inserted: 3), "\(found)")

    // An entity that is a member of another one is stored with its fields, and the other has its
    // key.
    let lars = dflat.find(Man.self, "1")!
    precondition(lars.name == "Lars" && lars.born == "2024-02-29T12:00:00Z", "\(lars)")
    precondition(dflat.find(Being.self, "1")!.subtype == .manReference(.init(id: "1")))

    // The key of a union's table, which is selected of its members only.
    precondition(lars.parts.map(\.id) == ["7", "8"], "\(lars)")
    precondition(lars.parts[0].subtype == .wheel(.init(size: 3)))
    guard case .robot(let marvin)? = dflat.find(Being.self, "2")!.subtype else { fatalError() }
    precondition(marvin.name == "Marvin" && marvin.part!.id == "9")

    // A document with everything that ends texts of Swift, and an input type called like an
    // operation.
    precondition(SlashQuery.document.contains(###"robot(text: "a\\b\"\"\"#\\##cé\n")"###), SlashQuery.document)
    _ = FindQuery(variables: .init(like: .value(FindQuery_(text: "x", more: .value(.init())))))
    // An input object of which each value has one field.
    func way(_ way: Way) throws -> String {
      String(decoding: try FindQuery(variables: .init(like: .value(.init(way: .value(way))))).body(), as: UTF8.self)
    }
    let bodies = try [way(Way(firstName: "a")), way(Way(way: .value(Way(self_: [1]))))]
    precondition(bodies[0].contains(#""way":{"first_name":"a"}"#), bodies[0])
    precondition(bodies[1].contains(#""way":{"way":{"self":[1]}}"#), bodies[1])
    for (value, fault) in [
      (Way(), "all are absent"), (Way(way: .value(Way())), "all are absent"), (Way(id: .null), "'id' is null"),
      (Way(id: "1", firstName: "a"), "'id' has a value, 'first_name' has a value"),
      (Way(id: .null, firstName: "a"), "'first_name' has a value, 'id' is null"),
    ] {
      do {
        let body = try way(value)
        fatalError(body)
      } catch {
        let text = "exactly one field of the input object 'Way' has a value: \(fault)"
        precondition("\(error)".contains(text), "\(error)")
      }
    }
    _ = try store(SlashQuery.self, """
      {"data": {"robot": {"id": "3", "name": "C", "type": {"text": "t", "kind": "Self"}}}}
      """)
    guard case .robot(let third)? = dflat.find(Being.self, "3")!.subtype else { fatalError() }
    precondition(third.type?.text == "t", "\(third)")
    print("all is well")
    """####

  @Test("are whole where entities, unions, scalars and names are difficult")
  func runs() throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(Self.operations, to: directory.appending(path: "o.graphql"))
      try GraphQL.write(
        """
        {"graphql": {"schema": "s.graphqls", "entities": ["Being", "Man"], "primaryKey": "id",
          "scalars": {"When": "Foundation.Date"}, "evolve": false}}
        """, to: directory.appending(path: "dflat.json"))
      let run = try GraphQL.run(
        "--config \(directory.appending(path: "dflat.json").path())", ["o.graphql"], schemas: [],
        in: directory)
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let program = directory.appending(path: "program")
      for (name, text) in run.files where name.hasSuffix(".swift") {
        try GraphQL.write(text, to: program.appending(path: name))
      }
      for entity in ["Being", "Man"] {
        try generate(directory.appending(path: "out/\(entity)_generated.fbs"), into: program)
      }
      try GraphQL.write(Self.program, to: program.appending(path: "main.swift"))
      let result = try Judge.runProgram(
        in: program, with: Place.modules("DflatGraphQL", "MemoryDflat"))
      #expect(result.output == "all is well\n", "\(result.output)")
    }
  }

  private static let grownSchema = """
    interface Node { id: ID! }
    interface Titled { title: String }
    type User implements Node { id: ID!  name: String }
    type Bot implements Node { id: ID!  name: String }
    type Note implements Titled { title: String  text: String }
    type Ticket implements Node { id: ID!  owner: Actor  watchers: [Actor!]!  author: Actor }
    union Actor = User | Bot
    union Only = Ticket
    type Query { ticket: Ticket  actors: [Actor!]!  titled: Titled  only: Only }
    """

  private static let grownOperations = """
    query All {
      ticket {
        id owner { ... on Node { id } } watchers { ... on User { id } ... on Bot { id name } }
        author { ... on Node { id } ... on User { name } }
      }
      actors { ... on Node { id } ... on Bot { name } }
      titled { title ... on Note { text } }
      only { ... on Ticket { id owner { ... on Node { id } } } }
    }
    """

  private static let grownProgram = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    func store(_ json: String) throws -> AllQuery.Data {
      let data = try AllQuery.response(from: Data(json.utf8)).requireData()
      let again = try JSONDecoder().decode(AllQuery.Data.self, from: JSONEncoder().encode(data))
      precondition(again == data)
      try dflat.write(Actor.self, Ticket.self) { _ = try $0.store(data) }
      return data
    }
    let known = try store("""
      {"data": {
        "ticket": {"id": "t",
          "owner": {"__typename": "User", "id": "1"},
          "watchers": [{"__typename": "User", "id": "1"}, {"__typename": "Bot", "id": "2", "name": "b"}],
          "author": {"__typename": "User", "id": "3", "name": "c"}},
        "actors": [{"__typename": "Bot", "id": "4", "name": "d"}],
        "titled": {"__typename": "Note", "title": "T", "text": "x"},
        "only": {"__typename": "Ticket", "id": "u", "owner": {"__typename": "Bot", "id": "4"}}}}
      """)
    precondition(known.actors[0].asNode!.id == "4" && known.titled!.asNote!.text == "x")
    let ticket = Ticket(id: "t", author: "3", owner: "1", watchers: ["1", "2"])
    precondition(dflat.find(Ticket.self, "t")! == ticket)
    precondition(dflat.find(Ticket.self, "u")! == Ticket(id: "u", owner: "4"))
    precondition(dflat.find(Actor.self, "3")!.subtype == .user(.init(name: "c")))
    precondition(dflat.find(Actor.self, "4")!.subtype == .bot(.init(name: "d")))
    precondition(Ticket(known.ticket!) == ticket && Ticket(known.only!) == Ticket(id: "u", owner: "4"))
    precondition(Actor(known.actors[0]) == Actor(id: "4", subtype: .bot(.init(name: "d"))))

    // The service has got types that no condition of the operation is about.
    let newer = try store("""
      {"data": {
        "ticket": {"id": "t", "owner": {"__typename": "Team"},
          "watchers": [{"__typename": "Team"}, {"__typename": "User", "id": "5"}],
          "author": {"__typename": "Team"}},
        "actors": [{"__typename": "Team"}, {"__typename": "User", "id": "6"}],
        "titled": {"__typename": "Poll", "title": "P"},
        "only": {"__typename": "Poll"}}}
      """)
    precondition(newer.actors[0].asNode == nil && newer.titled!.title == "P")
    precondition(dflat.find(Ticket.self, "t")! == Ticket(id: "t", watchers: ["5"]))
    precondition(dflat.fetch(for: Actor.self).all().count == 6)
    precondition(Actor(newer.actors[0]) == nil && Ticket(newer.only!) == nil)
    print("all is well")
    """####

  @Test("are decoded, and stored as far as they are known, if a service has types that are newer")
  func newerTypes() throws {
    let output = try GraphQL.output(
      of: Self.grownProgram, Self.grownSchema, Self.grownOperations,
      "--entity Ticket --entity Actor --primary-key id")
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("have their Swift in as many files as are asked for", arguments: [1, 4])
  func files(count: Int) throws {
    let operations = (0..<20).map { "query Q\($0) { beings { id name } }" }.joined(separator: "\n")
    let options = "--entity Being --primary-key id"
    let plain = try GraphQL.run(Self.schema, operations, options)
    let joined = try GraphQL.run(Self.schema, operations, options + " --files \(count)")
    #expect(joined.status == 0, "\(joined.errors)")
    let names = (1...count).map { "graphql_\($0 == 1 ? "" : "\($0)_")generated.swift" }
    #expect(joined.files.keys.sorted() == (["Being_generated.fbs"] + names).sorted())
    func declarations(_ files: [String: String]) -> [String] {
      files.filter { $0.key.hasSuffix(".swift") }.values
        .flatMap { $0.split(separator: "\n").map(String.init) }
        .filter { $0.hasPrefix("public ") || $0.hasPrefix("nonisolated ") }
        .filter { !$0.contains("import ") }.sorted()
    }
    #expect(declarations(joined.files) == declarations(plain.files))
    // One operation more changes one file.
    let more = try GraphQL.run(
      Self.schema, operations + " query Q20 { beings { id } }", options + " --files \(count)")
    let changed = names.filter { more.files[$0] != joined.files[$0] }
    #expect(changed.count <= 2 && (count == 1 || changed.count < count), "\(changed)")
    try withTemporaryDirectory { directory in
      for (name, text) in more.files {
        try GraphQL.write(text, to: directory.appending(path: name))
      }
      try generate(directory.appending(path: "Being_generated.fbs"), into: directory)
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  @Test("are not needed for the schemas alone: nothing is said about operations")
  func schemasOnly() throws {
    let run = try GraphQL.run(
      Self.schema, "query { beings { id } }", "--entity Being --primary-key id --schemas-only")
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    #expect(run.files.keys.sorted() == ["Being_generated.fbs"])
    let both = try GraphQL.run(
      Self.schema, "query { beings { id } }", "--entity Being --primary-key id")
    #expect(both.errors.contains("an operation without a name"))
  }

  @Test("end with an error where fragments are spread under endless conditions")
  func conditions() throws {
    // Each level doubles the number of conditions under which the next one is spread.
    let levels = 30
    let variables = (0..<levels).map { "$a\($0): Boolean!, $b\($0): Boolean!" }
    var text = "query Q(\(variables.joined(separator: ", "))) { beings { ...F0 } }\n"
    for level in 0..<levels {
      text +=
        "fragment F\(level) on Being { ...F\(level + 1) @include(if: $a\(level)) "
        + "...F\(level + 1) @include(if: $b\(level)) }\n"
    }
    text += "fragment F\(levels) on Being { id }"
    let start = ContinuousClock.now
    let run = try GraphQL.run(Self.schema, text, "--entity Being --primary-key id")
    #expect(run.status == 1 && run.errors.contains("under more than 2000 different conditions"))
    #expect(run.errors.contains("operations.graphql:") && run.files.isEmpty, "\(run.errors)")
    #expect(start.duration(to: .now) < .seconds(400))
  }
}
