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
    input FindQuery { text: String = "\\"  more: FindQuery }
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

    // An entity that is a member of another one is stored with its fields, and the other has its key.
    let lars = dflat.find(Man.self, "1")!
    precondition(lars.name == "Lars" && lars.born == "2024-02-29T12:00:00Z", "\(lars)")
    precondition(dflat.find(Being.self, "1")!.subtype == .manReference(.init(id: "1")))

    // The key of a union's table, which is selected of its members only.
    precondition(lars.parts.map(\.id) == ["7", "8"], "\(lars)")
    precondition(lars.parts[0].subtype == .wheel(.init(size: 3)))
    guard case .robot(let marvin)? = dflat.find(Being.self, "2")!.subtype else { fatalError() }
    precondition(marvin.name == "Marvin" && marvin.part!.id == "9")

    // A document with everything that ends texts of Swift, and an input type called like an operation.
    precondition(SlashQuery.document.contains(###"robot(text: "a\\b\"\"\"#\\##cé\n")"###), SlashQuery.document)
    _ = FindQuery(variables: .init(like: .value(FindQuery_(text: "x", more: .value(.init())))))
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
      Self.schema, "query A { beings { name } }", "--entity Being --primary-key id --schemas-only")
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    #expect(run.files.keys.sorted() == ["Being_generated.fbs"])
    let both = try GraphQL.run(
      Self.schema, "query A { beings { name } }", "--entity Being --primary-key id")
    #expect(both.errors.contains("without their key"))
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
    #expect(start.duration(to: .now) < .seconds(20))
  }
}
