// Fragments as structures: every structure that spreads one can make it.

import Foundation
import SeededRandom
import Testing

@Suite("Fragments of operations")
struct FragmentTests {
  private static let schema = """
    scalar Date
    enum Size { SMALL LARGE }
    interface Node { id: ID! }
    interface Animal implements Node { id: ID!  name: String!  owner: Person  friends: [Animal]! }
    type Dog implements Animal & Node {
      id: ID!  name: String!  owner: Person!  friends: [Animal]!  tricks: [String!]!  size: Size
    }
    type Cat implements Animal & Node {
      id: ID!  name: String!  owner: Person  friends: [Animal]!  lives: Int!
    }
    type Person implements Node {
      id: ID!  name: String!  born: Date  photo(size: Int): Image!  pets: [[Animal!]]!  best: Pet
      mail: String
    }
    type Image { url: String!  width: Int }
    union Pet = Dog | Cat
    type Query { person: Person  animals: [Animal!]!  pets: [Pet]!  node: Node }
    """

  private static let operations = """
    query People($full: Boolean! = false, $more: Boolean! = true) {
      person {
        id
        ...PersonCard
        ...Details @include(if: $full)
        photo { width }
        best { __typename ... on Dog { id size } ...CatLine }
      }
      animals { ...AnimalLine }
      pets { ... on Dog { ...DogLine } ... on Cat { ...CatLine } ...AnimalLine }
      node { ... on Person { ...PersonCard } ... on Animal { ...AnimalLine } }
    }
    query Same($more: Boolean! = true) { person { ...PersonCard } }
    fragment PersonCard on Person {
      name born
      photo { url }
      pets { name ...AnimalLine }
      best { ... on Dog { name } ... on Cat { name lives } }
      mail @include(if: $more)
    }
    fragment Details on Person { mail born photo { url } }
    fragment AnimalLine on Animal {
      id name owner { name }
      ... on Dog { tricks friends { id } }
      ...CatLine
    }
    fragment CatLine on Cat { lives name }
    fragment DogLine on Dog { ...AnimalLine size }
    fragment Person on Node { id }
    fragment photo on Image { url width }
    query Rest { person { ...Person photo { ...photo } } }
    """

  private static let program = ####"""
    import DflatGraphQL
    import Foundation

    func name(_ card: PersonCard) -> String { "\(card.name) \(card.photo.url)" }
    let cat = #"{"__typename": "Cat", "id": "c", "name": "Tom", "owner": null, "lives": 7}"#
    let dog = #"""
      {"__typename": "Dog", "id": "d", "name": "Rex", "owner": {"name": "Ann"}, "tricks": ["sit"],
       "friends": [null, {"id": "c", "__typename": "Cat"}], "size": "LARGE"}
      """#
    func person(_ rest: String) -> String {
      #"""
      {"__typename": "Person", "id": "p", "name": "Ann", "born": "2001", "photo": {"url": "u", "width": 3},
       "pets": [[\#(cat), \#(dog)], null, []], "best": \#(dog)\#(rest)}
      """#
    }
    func people(_ rest: String = "") throws -> PeopleQuery.Data {
      try JSONDecoder().decode(
        PeopleQuery.Data.self,
        from: Data(
          #"""
          {"person": \#(person(rest)), "animals": [\#(cat), \#(dog)], "pets": [\#(dog), null, \#(cat)],
           "node": \#(person(#", "mail": "m""#))}
          """#.utf8))
    }
    let data = try people(#", "mail": null"#)
    // It is what the fragment alone would be decoded from.
    let card = data.person!.personCard
    let alone = try JSONDecoder().decode(
      PersonCard.self, from: Data(person(#", "mail": null"#).utf8))
    precondition(card == alone, "\(card) \(alone)")
    precondition(name(card) == "Ann u" && card.mailIfIncluded == .null)
    precondition(card.pets[0]![1].asDog?.tricks == ["sit"] && card.pets[1] == nil)
    precondition(card.best?.asDog?.name == "Rex" && card.best?.asCat == nil)
    let same: PersonCard = try JSONDecoder().decode(
      SameQuery.Data.self, from: Data(#"{"person": \#(person(#", "mail": null"#))}"#.utf8)
    ).person!.personCard
    precondition(same == card)
    // What the conditions leave out is nil.
    let (mailed, unmailed) = (try people(#", "mail": "m""#).person!, try people().person!)
    precondition(mailed.personCard.mail == "m" && mailed.details?.mail == "m")
    precondition(unmailed.personCard.mailIfIncluded == .absent && unmailed.details == nil)
    precondition(data.person!.photo.width == 3)
    let line = data.animals.map(\.animalLine)
    precondition(line[0].catLine!.lives == 7 && line[1].catLine == nil && line[0].owner == nil)
    precondition(data.animals[0].catLine == line[0].catLine)
    precondition(line[1].asDog?.friends[1]?.id == "c" && line[1].asDog?.friends[0] == nil)
    precondition(data.pets[0]!.dogLine?.size == .large && data.pets[2]!.dogLine == nil)
    precondition(data.pets[2]!.catLine?.name == "Tom" && data.pets[0]!.catLine == nil)
    precondition(data.pets[0]!.dogLine!.animalLine.id == "d")
    precondition(data.node!.personCard!.photo.url == "u")
    let rest = try JSONDecoder().decode(
      RestQuery.Data.self, from: Data(#"{"person": \#(person(""))}"#.utf8)).person!
    precondition(rest.person.id == "p" && rest.photo.photo.width == 3)
    print("all is well")
    """####

  @Test("are structures that each structure which spreads them has")
  func structures() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations, "--fragments")
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("are structures only if that is asked for, in the code for no other client")
  func options() throws {
    let (schema, operations) = (
      Self.schema, "query A { node { ...Part } } fragment Part on Node { id }"
    )
    let plain = try GraphQL.run(schema, operations, "")
    #expect(
      plain.files.keys.sorted() == ["AQuery_generated.swift", "GraphQLTypes_generated.swift"])
    #expect(plain.files["AQuery_generated.swift"]?.contains("Part") == true)  // in the document
    #expect(plain.files["AQuery_generated.swift"]?.contains("var part") == false)
    let apollo = try GraphQL.run(
      schema, operations, "--fragments --client apollo --entity Person --primary-key id")
    #expect(apollo.status == 64 && apollo.errors.contains("--fragments is for --client dflat"))
    try withTemporaryDirectory { directory in
      let files = [
        "s.graphqls": schema, "o.graphql": operations,
        "dflat.json": #"{"graphql": {"schema": "s.graphqls", "fragments": true}}"#,
      ]
      for (name, text) in files { try GraphQL.write(text, to: directory.appending(path: name)) }
      let config = directory.appending(path: "dflat.json").path()
      let run = try GraphQL.run("--config \(config)", ["o.graphql"], schemas: [], in: directory)
      #expect(run.errors == "" && run.files["Part_generated.swift"] != nil, "\(run)")
      #expect(
        run.files["AQuery_generated.swift"]?.contains("public var part: Part {") == true, "\(run)")
    }
  }

  @Test("have no property where it cannot be told which fields are left out, or of which types")
  func untold() throws {
    let run = try GraphQL.run(
      Self.schema,
      """
      query A($c: Boolean!) {
        person { photo { width } ...Deep @include(if: $c) }
        animals { ...Node @include(if: $c) id }
      }
      fragment Deep on Person { photo { url } }
      fragment Node on Node { __typename ... on Person { name } }
      """, "--fragments")
    let text = run.files["AQuery_generated.swift"] ?? ""
    #expect(run.errors == "" && run.files["Deep_generated.swift"] != nil, "\(run.errors)")
    #expect(!text.contains("var deep"), "\(text)")
  }

  /// The lines of the files of fragments, each of which selects the next one of an object inside.
  private func lines(count: Int) throws -> Int {
    let fragments = (1...count).map { number in
      "fragment Part\(number) on P { id \(number < count ? "next { ...Part\(number + 1) }" : "") }"
    }
    let run = try GraphQL.run(
      "type P { id: ID!  next: P } type Query { p: P }",
      "query Q { p { ...Part1 id } }\n" + fragments.joined(separator: "\n"), "--fragments")
    #expect(run.status == 0 && run.files.count == count + 2, "\(run.errors)")
    return run.files.filter { $0.key.hasPrefix("Part") }.values
      .map { $0.split(separator: "\n").count }.reduce(0, +)
  }

  @Test("have one structure each, however they are nested")
  func growth() throws {
    let (some, more) = (try lines(count: 10), try lines(count: 20))
    #expect(more < 3 * some, "\(some), \(more)")
  }

  @Test("are what the same response gives them alone")
  func random() throws {
    var random = SeededGenerator(seed: testSeed())
    for _ in 0..<(isLongRun ? 20 : 1) {
      var service = RandomFragments(random: random)
      let operations = service.operations(count: 6)
      random = service.random
      let run = try GraphQL.run(RandomFragments.schema, operations, "--fragments")
      let checks = Self.checks(run.files)
      #expect(run.errors == "" && checks.count > 6, "DFLAT_SEED=\(random.seed)\n\(run.errors)")
      let output = try GraphQL.output(
        of: RandomFragments.program(checks), RandomFragments.schema, operations, "--fragments")
      #expect(output == "all is well\n", "DFLAT_SEED=\(random.seed)\n\(output)\n\(operations)")
    }
  }

  /// A property with a fragment's structure.
  fileprivate struct Check {
    let type: String
    /// The type of the objects in the schema.
    let schemaType: String
    let property: String
    let fragment: String
    let isOptional: Bool
  }

  /// The properties in generated files.
  private static func checks(_ files: [String: String]) -> [Check] {
    var checks: [Check] = []
    for (_, text) in files.sorted(by: { $0.key < $1.key }) {
      var schemaTypes: [String: String] = [:]
      var path: [String] = []
      var (type, documented) = ("", "")
      var isNext = false
      for line in text.split(separator: "\n") {
        if let match = line.firstMatch(of: /The (?:selected fields of|.* on) `(\w+)`/) {
          documented = String(match.1)
        } else if let match = line.wholeMatch(of: /( *)public nonisolated struct (\w+): .*/) {
          path = path.prefix(match.1.count / 2) + [String(match.2)]
          schemaTypes[path.joined(separator: ".")] = documented
        } else if let match = line.wholeMatch(of: /nonisolated extension (\S+) \{/) {
          type = String(match.1)
        } else if isNext, let match = line.wholeMatch(of: /\ \ public var (\S+): (\w+)(\??) \{/) {
          checks.append(
            Check(
              type: type, schemaType: schemaTypes[type] ?? "", property: String(match.1),
              fragment: String(match.2), isOptional: !match.3.isEmpty))
        }
        isNext = line.hasPrefix("  /// The fields of the fragment `")
      }
    }
    return checks
  }
}

/// Operations of fragments in fragments, over a schema with interfaces and a union.
private struct RandomFragments {
  var random: SeededGenerator

  static let schema = """
    interface Node { id: ID! }
    interface Animal implements Node { id: ID!  name: String!  owner: Person  friends: [Animal]! }
    type Dog implements Animal & Node {
      id: ID!  name: String!  owner: Person  friends: [Animal]!  tricks: [String!]!  size: Int
    }
    type Cat implements Animal & Node {
      id: ID!  name: String!  owner: Person  friends: [Animal]!  lives: Int!
    }
    type Person implements Node {
      id: ID!  name: String!  born: Int  photo: Image!  pets: [[Animal!]]!  best: Pet
    }
    type Image { url: String!  width: Int }
    union Pet = Dog | Cat
    type Query { person: Person!  animal: Animal!  pet: Pet!  node: Node! }
    """

  private static let fields: [String: [(name: String, type: String?)]] = {
    let animal: [(String, String?)] = [
      ("id", nil), ("name", nil), ("owner", "Person"), ("friends", "Animal"),
    ]
    return [
      "Node": [("id", nil)], "Animal": animal,
      "Dog": animal + [("tricks", nil), ("size", nil)], "Cat": animal + [("lives", nil)],
      "Person": [
        ("id", nil), ("name", nil), ("born", nil), ("photo", "Image"), ("pets", "Animal"),
        ("best", "Pet"),
      ],
      "Image": [("url", nil), ("width", nil)], "Pet": [("__typename", nil)],
    ]
  }()

  /// The object types of each type.
  private static let objects: [String: Set<String>] = [
    "Node": ["Dog", "Cat", "Person"], "Animal": ["Dog", "Cat"], "Pet": ["Dog", "Cat"],
    "Dog": ["Dog"], "Cat": ["Cat"], "Person": ["Person"], "Image": ["Image"],
  ]
  private static let roots = [
    "Person": "person", "Animal": "animal", "Pet": "pet", "Dog": "animal", "Cat": "pet",
    "Node": "node",
  ]

  private var fragments: [String] = []

  init(random: SeededGenerator) { self.random = random }

  mutating func operations(count: Int) -> String {
    fragments = (0..<count).map { _ in
      random.pick(["Person", "Animal", "Pet", "Dog", "Cat", "Node"])
    }
    var text = ""
    for (number, type) in fragments.enumerated() {
      text += "fragment F\(number)Part on \(type) \(selection(of: type, after: number, depth: 2))\n"
    }
    for number in 0..<(count / 3) {
      let type = random.pick(["Person", "Animal", "Pet", "Node"])
      text +=
        "query Some\(number)($c: Boolean! = true) { __typename @include(if: $c) \(Self.roots[type] ?? "") "
        + selection(of: type, after: -1, depth: 2) + " }\n"
    }
    let all = fragments.enumerated().map { number, type in
      "x\(number): \(Self.roots[type] ?? "") { ...F\(number)Part @include(if: $c) __typename }"
    }
    return text + "query All($c: Boolean! = true) { \(all.joined(separator: " ")) }\n"
  }

  private mutating func selection(of type: String, after number: Int, depth: Int) -> String {
    var parts: [String] = []
    for (name, inner) in Self.fields[type] ?? [] where random.oneIn(2) {
      let condition = random.oneIn(6) ? " @include(if: $c)" : ""
      guard let inner else {
        parts.append(name + condition)
        continue
      }
      if depth > 0 {
        parts.append(name + condition + " " + selection(of: inner, after: number, depth: depth - 1))
      }
    }
    func fits(_ other: String) -> Bool {
      !(Self.objects[type] ?? []).isDisjoint(with: Self.objects[other] ?? [])
    }
    for other in ["Dog", "Cat", "Animal", "Node"] where depth > 0 && fits(other) && random.oneIn(4)
    {
      parts.append("... on \(other) " + selection(of: other, after: number, depth: depth - 1))
    }
    for (index, other) in fragments.enumerated() where index > number && fits(other) {
      if random.oneIn(6) {
        parts.append("...F\(index)Part" + (random.oneIn(5) ? " @include(if: $c)" : ""))
      }
    }
    if parts.isEmpty { parts = [type == "Image" ? "url" : "__typename"] }
    parts.shuffle(using: &random)
    return "{ \(parts.joined(separator: " ")) }"
  }

  /// Decodes each structure from objects with all fields, and compares its properties with the
  /// fragments decoded from the same objects. Fields that conditions leave out are absent in some.
  static func program(_ checks: [FragmentTests.Check]) -> String {
    var text = ####"""
      import DflatGraphQL
      import Foundation

      func animal(_ type: String, _ depth: Int) -> String {
        let owner = depth == 0 ? "null" : person(depth - 1)
        let friends = depth == 0 ? "" : #"null, \#(animal("Dog", depth - 1)), \#(animal("Cat", depth - 1))"#
        return #"""
          {"__typename": "\#(type)", "id": "\#(type)\#(depth)", "name": "n\#(depth)", "owner": \#(owner),
           "friends": [\#(friends)], "tricks": ["t\#(depth)"], "size": null, "lives": \#(depth)}
          """#
      }
      func person(_ depth: Int) -> String {
        let best = depth == 0 ? "null" : animal("Cat", depth - 1)
        let pets = depth == 0 ? "null" : #"[\#(animal("Dog", depth - 1))], null, []"#
        return #"""
          {"__typename": "Person", "id": "p", "name": "P\#(depth)", "born": 7,
           "photo": {"__typename": "Image", "url": "u\#(depth)", "width": null},
           "pets": [\#(pets)], "best": \#(best)}
          """#
      }
      let objects = ["Dog": animal("Dog", 4), "Cat": animal("Cat", 4), "Person": person(4)]
      var found = 0
      @MainActor func check<Whole: Decodable, Part: Decodable & Equatable>(
        _ name: String, _ types: [String], _ body: (Whole) -> Part?
      ) {
        for type in types {
          let object = Data((objects[type] ?? "").utf8)
          guard let whole = try? JSONDecoder().decode(Whole.self, from: object),
            let part = body(whole)
          else { continue }
          found += 1
          let alone = try? JSONDecoder().decode(Part.self, from: object)
          if part != alone { print("\(name): \(part) \(alone as Any)") }
        }
      }

      """####
    for check in checks {
      let types = (objects[check.schemaType] ?? []).sorted()
      text +=
        "check(\"\(check.type).\(check.property)\", \(types)) { "
        + "(whole: \(check.type)) -> \(check.fragment)? in whole.\(check.property) }\n"
    }
    return text + "print(found > \(checks.count / 2) ? \"all is well\" : \"\\(found) found\")\n"
  }
}
