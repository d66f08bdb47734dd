// Entities and operations may have any name: also those of types that generated code uses.

import DflatGenerator
import Foundation
import Testing

@Suite("Names of entities and operations")
struct NamesMatrixTests {
  /// Names of Swift, of the library, of operations, and of what generated code calls its own.
  private static let names = [
    "Root", "Target", "Int64", "Double", "Bool", "Array", "Optional", "Codable", "Hashable",
    "Sendable",
    "Encodable", "Encoder", "Decoder", "CodingKey", "Data", "Any", "Never", "Error", "Result",
    "Variables", "HeroQuery", "Hero", "GraphQLQuery", "GraphQLMerge", "GraphQLStorable",
    "GraphQLNullable", "GraphQLEnum", "GraphQLObject", "GraphQLList", "GraphQLLists",
    "GraphQLMergeRules", "GraphQLElementKey", "GraphQLFieldReader", "GraphQLBox", "Type",
    "Protocol",
    "AnyHashable", "Draft", "Subtype", "Element", "Part", "Row", "MainActor", "Date", "filter",
    "Self", "self", "init",
  ]
  /// With a module's name, only those are told apart that it does not hide.
  private static let modules = ["Dflat", "DflatGraphQL", "Swift"]

  /// Every name is an entity, with a reference to the next one and an object without a key inside.
  private static func service(_ names: [String]) -> (schema: String, operations: String) {
    var types: [String] = []
    var fields: [String] = []
    var operations: [String] = []
    for (index, name) in names.enumerated() {
      let next = names[(index + 1) % names.count]
      types.append(
        """
        type \(name) { id: ID!  flag: Boolean  count: Int!  ratio: Float  mood: Mood  part: Piece
        next: \(next)  all: [\(next)]  tags: [String!]!  made: When  notes: [Note] }
        """)
      fields.append("f\(index): \(name)  l\(index)(like: Filter): [\(name)!]!")
      operations.append(
        """
        query \(name)($like: Filter) {
          f\(index) {
            id flag count ratio mood part { text } next { id flag } all { id } tags made notes { id text }
          }
          l\(index)(like: $like) { count next { ratio } }
          pick { ... on \(name) { id flag } }
        }
        """)
    }
    return (
      """
      scalar When
      enum Mood { GLAD SAD }
      interface Note { id: ID!  text: String }
      type Short implements Note { id: ID!  text: String }
      input Filter { text: String  more: Filter }
      type Piece { text: String }
      union Pick = \(names.joined(separator: " | "))
      \(types.joined(separator: "\n"))
      type Query { pick: Pick  \(fields.joined(separator: "\n")) }
      """, operations.joined(separator: "\n")
    )
  }

  private static func complaints(_ names: [String], _ mode: Judge.Mode) throws -> String {
    let (schema, operations) = service(names)
    return try complaints(names, schema, operations, mode)
  }

  private static func complaints(
    _ names: [String], _ schema: String, _ operations: String, _ mode: Judge.Mode
  ) throws -> String {
    return try withTemporaryDirectory { directory in
      try GraphQL.write(schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(operations, to: directory.appending(path: "o.graphql"))
      let options =
        names.map { "--entity \($0) " }.joined()
        + "--primary-key id --scalar When=Date --evolve"
      let run = try GraphQL.run(
        options, ["o.graphql"], schemas: ["s.graphqls"], in: directory)
      if run.status != 0 || run.errors != "" { return run.errors }
      let output = directory.appending(path: "out")
      var errors = ""
      let status = CompilerCommand(output: { _ in }, errors: { errors += $0 }).run(
        ["compile", "-o", output.path()]
          + run.files.keys.filter { $0.hasSuffix(".fbs") }.sorted()
          .map { output.appending(path: $0).path() })
      if status != 0 { return errors }
      return try Judge.complaints(about: output, mode)
    }
  }

  @Test(
    "compile with each name alone",
    arguments: isLongRun ? names + modules : modules + ["Self", "self"])
  func alone(name: String) throws {
    let complaints = try Self.complaints([name, "Other"], .swift6)
    #expect(complaints == "")
  }

  /// Everything but entities and operations has the names: fields, enum cases, other types,
  /// arguments, variables, aliases and fragments. What has types of these names is an entity of its
  /// own, since a table and a field of one namespace cannot have the same name.
  private static func members(_ names: [String]) -> (schema: String, operations: String) {
    let selected = names.joined(separator: " ")
    let fields = names.map { "\($0): String" }.joined(separator: "  ")
    func each(_ text: (Int, String) -> String) -> String {
      names.enumerated().map { text($0, $1) }.joined(separator: "\n")
    }
    return (
      """
      scalar When
      \(each { "type \($1) { text: String }  enum E\($0) { FIRST \($1) }" })
      \(each { "input I\($0) { \($1): E\($0)  more: I\($0) }" })
      interface Note { id: ID!  \(fields) }
      type Short implements Note { id: ID!  \(fields) }
      type Thing { id: ID!  \(fields)  note: Note  notes: [Note]  made: When
      \(each { "e\($0)(\($1): I\($0)): E\($0)" }) }
      type Holder { id: ID!  pick: Pick  picks: [Pick]  \(each { "p\($0): \($1)" }) }
      union Pick = Short | \(names.joined(separator: " | "))
      type Query { thing: Thing  holder: Holder }
      """,
      """
      query Ask(\(each { "$\($1): I\($0)" })) {
        thing {
          \(selected) made note { id \(selected) } notes { id \(selected) }
          \(each { "e\($0)(\($1): $\($1))" })
        }
        holder {
          pick { \(each { _, name in "... on \(name) { text }" }) }
          \(each { number, _ in "p\(number) { text }" })
        }
      }
      query Aliases { \(each { _, name in "\(name): thing { \(name): \(names[0]) ...\(name) }" }) }
      \(each { _, name in "fragment \(name) on Thing { note { id \(name) } }" })
      """
    )
  }

  /// A schema, an operation and options.
  typealias Service = (schema: String, operation: String, options: String)
  /// What has the name of an entity, of a structure, or of a type that a scalar is.
  private static let sameNames: [Service] = [
    (
      "type users { id: ID! name: String } type Query { users: users }",
      "query Q { users { users: name } }", "--entity users --primary-key id"
    ),
    (
      "interface node { id: ID! } type A implements node { id: ID! node: Int } type Query { a: A }",
      "query Q { a { node } }", "--entity node --primary-key id"
    ),
    (
      "type FooQuery { q: Int } type A { id: ID! x: Int f: FooQuery } type Query { a: A }",
      "query Foo { a { x f { q } } }", "--entity A --primary-key id"
    ),
    (
      "enum Date { TODAY } scalar T type A { id: ID! at: T w: Date } type Query { a: A at: T w: Date }",
      "query Q { at w a { at w } }", "--entity A --primary-key id --scalar T=long:Date"
    ),
    (
      "input Date { year: Int } scalar T type A { id: ID! at: T } type Query { a(d: Date): A }",
      "query Q($d: Date) { a(d: $d) { at } }", "--entity A --primary-key id --scalar T=long:Date"
    ),
    (
      "input Decimal { x: Int } scalar T type A { id: ID! at: T } type Query { a(d: Decimal): A }",
      "query Q($d: Decimal) { a(d: $d) { at } }", "--entity A --primary-key id --scalar T=Decimal"
    ),
    (
      "type A { self: ID! x: Int } type Query { a: A }", "query Q { a { x } }",
      "--entity A --primary-key self"
    ),
    // A list alone has the type.
    (
      "scalar T type A { id: ID! b: B } type B { all: [T] } type Query { a: A }",
      "query Q { a { b { all } } }", "--entity A --primary-key id --scalar T=long:Date"
    ),
  ]

  @Test("compile beside what has the same name", arguments: sameNames.indices)
  func equalNames(number: Int) throws {
    let service = Self.sameNames[number]
    try withTemporaryDirectory { directory in
      try GraphQL.write(service.schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(service.operation, to: directory.appending(path: "o.graphql"))
      let run = try GraphQL.run(
        service.options, ["o.graphql"], schemas: ["s.graphqls"], in: directory)
      #expect(run.status == 0, "\(run.errors)")
      let output = directory.appending(path: "out")
      for name in run.files.keys where name.hasSuffix(".fbs") {
        try generate(output.appending(path: name), into: output)
      }
      #expect(try Judge.complaints(about: output, .swift6) == "")
      if run.files["QQuery_generated.swift"]?.contains("public var w: ") == true {
        // The scalar is a date, and the enum has another name.
        #expect(run.files["QQuery_generated.swift"]?.contains("public var at: Date?") == true)
        #expect(run.files["QQuery_generated.swift"]?.contains("public var w: Date_?") == true)
      }
    }
  }

  @Test("have files whose names are different on all file systems")
  func files() throws {
    let run = try GraphQL.run(
      "type Query { a: Int b: Int }",
      "query A_b { a } query AB { b } query FOO { a } query Foo { b }",
      "")
    #expect(run.status == 0 && run.files.count == 5, "\(run.errors)")
    #expect(Set(run.files.keys.map { $0.lowercased() }).count == 5, "\(run.files.keys)")
  }

  @Test(
    "compile with the names for everything else",
    arguments: [["Self", "Type", "Protocol", "init", "Any"], ["self", "type", "protocol", "any"]])
  func everythingElse(names: [String]) throws {
    let (schema, operations) = Self.members(names)
    let complaints = try Self.complaints(["Thing", "Holder"], schema, operations, .swift6)
    #expect(complaints == "")
  }

  @Test(
    "compile with many names together", arguments: some([Judge.Mode.swift6, .mainActor], each: 2))
  func together(mode: Judge.Mode) throws {
    let complaints = try Self.complaints(some(Self.names, each: 2), mode)
    #expect(complaints == "")
  }
}
