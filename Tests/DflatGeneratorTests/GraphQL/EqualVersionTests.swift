// Equal versions of GraphQL entities are equal layouts.

import DflatGenerator
import DflatSchema
import Foundation
import SeededRandom
import Testing

@Suite("Versions of GraphQL entities")
struct EqualVersionTests {
  @Test("References that are stored as numbers and as texts have different versions")
  func references() throws {
    let schema = "type Person { id: Int!  friend: Person }  type Query { person: Person }"
    func version(_ option: String) throws -> Substring {
      let run = try GraphQL.run(
        schema, "query A { person { id friend { id } } }",
        "--entity Person --primary-key id \(option)")
      let text = try #require(run.files["Person_generated.fbs"])
      return try #require(text.firstMatch(of: /table Person \(v: "(\w+)"\)/)?.output.1)
    }
    #expect(try version("--evolve") != version("--hash-versions"))
  }

  @Test("A union whose members have keys of other types has another version")
  func members() throws {
    let schema = """
      scalar Stamp
      union Node = Red | Blue
      type Red { id: Stamp! }
      type Blue { a: Int }
      type Green { id: Int!  node: Node }
      type Query { green: Green }
      """
    func version(_ option: String) throws -> Substring {
      let run = try GraphQL.run(
        schema, "query A { green { id node { ... on Red { id } ... on Blue { a } } } }",
        "--entity Green --entity Red --primary-key id \(option)")
      let text = try #require(run.files["Green_generated.fbs"], "\(run.errors)")
      return try #require(text.firstMatch(of: /table Green \(v: "(\w+)"\)/)?.output.1)
    }
    #expect(try version("--scalar Stamp=long") != version("--scalar Stamp=string"))
    #expect(try version("--scalar Stamp=string") == version("--hash-versions"))
  }

  private static let seed = testSeed()

  @Test("Equal versions are equal layouts, whatever options and releases have made them")
  func layouts() throws {
    var random = SeededGenerator(seed: Self.seed)
    // By the version: what hashed versions have, and what each line of releases has.
    var hashed: [String: Set<String>] = [:]
    var lines: [String: [[String]]] = [:]
    for _ in 0..<40 {
      let service = RandomService(&random)
      try withTemporaryDirectory { directory in
        try GraphQL.write(service.schema, to: directory.appending(path: "schema.graphqls"))
        for way in 0..<4 {
          let options = service.options(&random, evolves: way > 0)
          var line: [String: [String]] = [:]
          // Each release commits its schemas, as a build demands.
          for _ in 0..<4 {
            for (version, text) in try release(
              service.entities, service.operations(&random), options, "out\(way)", in: directory)
            {
              if way == 0 {
                hashed[version, default: []].insert(text)
              } else {
                line[version, default: []].append(text)
              }
            }
          }
          for (version, texts) in line { lines[version, default: []].append(texts) }
        }
      }
    }
    var pairs = 0
    func compare(_ first: String, _ second: String) throws {
      if first == second { return }
      pairs += 1
      try checkLayouts(first, second, isJudged: pairs % 10 == 0)
    }
    for (version, texts) in hashed {
      let texts = texts.sorted()
      for other in texts.dropFirst() { try compare(texts[0], other) }
      for other in (lines[version] ?? []).joined() { try compare(texts[0], other) }
    }
    for line in lines.values.joined() {
      for (first, second) in zip(line, line.dropFirst()) { try compare(first, second) }
    }
    #expect(pairs > 50, "DFLAT_SEED=\(random.seed)")
  }

  /// Writes the schemas of a release, and returns them by entity and version.
  private func release(
    _ entities: [String], _ operations: String, _ options: String, _ output: String,
    in directory: URL
  ) throws -> [(version: String, text: String)] {
    try GraphQL.write(operations, to: directory.appending(path: "a.graphql"))
    let folder = directory.path() + "/"
    var errors = ""
    let status = CompilerCommand(output: { _ in }, errors: { errors += $0 }).run(
      ["graphql", "-o", folder + output, "-S", folder + "schema.graphqls", "--schemas-only"]
        + options.split(separator: " ").map(String.init) + [folder + "a.graphql"])
    #expect(status == 0, "\(errors)\nDFLAT_SEED=\(Self.seed)")
    return entities.compactMap { entity in
      let path = folder + "\(output)/\(entity)_generated.fbs"
      guard let data = FileManager.default.contents(atPath: path) else { return nil }
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
      guard let head = lines.first(where: { $0.hasPrefix("table \(entity) ") }) else { return nil }
      // Relations to other files do not matter for what is stored.
      let text = lines.filter { !$0.hasPrefix("include ") }.joined(separator: "\n")
        .replacing(/, references: "\w+"/, with: "").replacing(/\ \(references: "\w+"\)/, with: "")
      return (String(head), text)
    }
  }

  /// One of two schemas is the other one with more fields, values and members behind it.
  private func checkLayouts(_ first: String, _ second: String, isJudged: Bool) throws {
    func compile(_ text: String) throws -> Schema {
      let result = SchemaCompiler().compile(source: Array(text.utf8), path: "x.fbs")
      return try #require(result.schema, "\(result.diagnostics)")
    }
    let (old, new) = (try compile(first), try compile(second))
    let root = try #require(first.firstMatch(of: /(?m)^root_type (\w+);/)?.output.1)
    let faults = LayoutPair(old: old, new: new).faults(QualifiedName(name: String(root)))
    #expect(faults.isEmpty, "\(faults)\n\(first)\n\(second)\nDFLAT_SEED=\(Self.seed)")
    if !isJudged { return }
    try withTemporaryDirectory { directory in
      let head = ["v", "primary"].map { "attribute \"\($0)\";\n" }.joined()
      try GraphQL.write(head + first, to: directory.appending(path: "first.fbs"))
      try GraphQL.write(head + second, to: directory.appending(path: "second.fbs"))
      func conforms(_ new: String, _ old: String) throws -> (status: Int32, output: String) {
        try Judge.run([
          "flatc", "-o", directory.path(), "--conform", directory.appending(path: old).path(),
          directory.appending(path: new).path(),
        ])
      }
      let one = try conforms("first.fbs", "second.fbs")
      let other = try conforms("second.fbs", "first.fbs")
      #expect(
        one.status == 0 || other.status == 0,
        "\(one.output)\(other.output)\n\(first)\n\(second)\nDFLAT_SEED=\(Self.seed)")
    }
  }
}

/// Two schemas of one entity, compared slot by slot. The names of types below it do not matter.
private struct LayoutPair {
  let old: Schema
  let new: Schema

  private struct Types: Hashable {
    let old: QualifiedName
    let new: QualifiedName
  }

  func faults(_ root: QualifiedName) -> [String] {
    var pending = [Types(old: root, new: root)]
    var seen = Set(pending)
    var faults: [String] = []
    func follow(_ first: FieldType, _ second: FieldType, _ place: String) {
      switch (first, second) {
      case (.vector(let one), .vector(let other)): follow(one, other, place)
      case (.enumeration(let old), .enumeration(let new)), (.table(let old), .table(let new)),
        (.union(let old), .union(let new)):
        let types = Types(old: old, new: new)
        if seen.insert(types).inserted { pending.append(types) }
      default: if first != second { faults.append("\(place): \(first) is \(second)") }
      }
    }
    while let types = pending.popLast() {
      switch (old.types[types.old], new.types[types.new]) {
      case (.table(let first)?, .table(let second)?):
        let slots = Dictionary(uniqueKeysWithValues: second.fields.map { ($0.offset, $0) })
        for field in first.fields {
          guard let other = slots[field.offset] else { continue }
          let place = "\(types.old).\(field.name)"
          if field.name != other.name || field.defaultValue != other.defaultValue {
            faults.append("\(place) is \(other.name)")
          }
          follow(field.type, other.type, place)
        }
      case (.enumeration(let first)?, .enumeration(let second)?):
        for (value, other) in zip(first.values, second.values) where value.name != other.name {
          faults.append("\(types.old): \(value.name) is \(other.name)")
        }
      case (.union(let first)?, .union(let second)?):
        for (member, other) in zip(first.members, second.members) {
          follow(member.type, other.type, "\(types.old).\(member.name)")
        }
      default: faults.append("\(types.old) is \(types.new)")
      }
    }
    return faults
  }
}

/// A random schema, and random operations for it. The names are those of every other one.
private struct RandomService {
  let entities = ["Red", "Green"]
  private let others = ["Blue", "White"]
  private var fields: [String: [(name: String, type: String)]] = [:]

  private static let scalars = ["Int", "String", "Float", "Boolean", "Date", "Mood", "[Int]"]

  init(_ random: inout SeededGenerator) {
    let key = ["ID!", "Int!", "Stamp!", "ID"].randomElement(using: &random)!
    for type in entities + others {
      var own = [(name: "id", type: key)]
      for name in ["a", "b", "z"] {
        // Fields mostly have the same type in every service, so that versions are equal.
        let scalar = random.oneIn(4) ? Self.scalars.randomElement(using: &random)! : "Int"
        own.append((name, scalar))
      }
      for name in ["c", "y"] {
        let target = ["Red", "Green", "Blue", "White", "Node"].randomElement(using: &random)!
        own.append((name, random.oneIn(3) ? "[\(target)]" : target))
      }
      fields[type] = own
    }
  }

  var schema: String {
    let types = (entities + others).map { type in
      let list = (fields[type] ?? []).map { "\($0.name): \($0.type)" }.joined(separator: "  ")
      return "type \(type) { \(list) }"
    }
    return """
      scalar Date
      scalar Stamp
      enum Mood { GLAD SAD }
      union Node = Red | Blue | White
      \(types.joined(separator: "\n"))
      type Query { red: Red  green: Green }
      """
  }

  func options(_ random: inout SeededGenerator, evolves: Bool) -> String {
    var options = evolves ? "--evolve" : "--hash-versions"
    let chosen = random.oneIn(3) ? ["Red"] : entities
    for entity in chosen { options += " --entity \(entity)" }
    options += " --primary-key id"
    for scalar in ["Date", "Stamp"] where random.oneIn(2) {
      options += " --scalar \(scalar)=\(random.oneIn(2) ? "long" : "double")"
    }
    return options
  }

  func operations(_ random: inout SeededGenerator) -> String {
    "query A { red { \(selection("Red", 2, &random)) } green { \(selection("Green", 2, &random)) } }"
  }

  private func selection(_ type: String, _ depth: Int, _ random: inout SeededGenerator) -> String {
    var parts = ["id"]
    for field in fields[type] ?? [] where field.name != "id" && random.oneIn(2) {
      let target = field.type.filter(\.isLetter)
      if target == "Node" {
        parts.append(
          "\(field.name) { ... on Red { id } ... on Blue { \(Self.leaf(random.oneIn(2))) } }")
      } else if fields[target] != nil {
        let inner = depth == 0 ? "id" : selection(target, depth - 1, &random)
        parts.append("\(field.name) { \(inner) }")
      } else {
        parts.append(field.name)
      }
    }
    return parts.joined(separator: " ")
  }

  private static func leaf(_ isLong: Bool) -> String { isLong ? "a b" : "id" }
}
