// Nothing that an operation selects is lost on the way from Apollo's structs to entities, whatever
// types and conditions stand around it.

import Foundation
import SeededRandom
import Testing

@Suite("Random operations, read from Apollo's structs")
struct ApolloRandomTests {
  @Test("give everything that is selected", arguments: ["apollo", "apollo-classic"])
  func everything(client: String) throws {
    var random = SeededGenerator(seed: testSeed())
    for _ in 0..<(isLongRun ? 500 : 60) {
      var operation = RandomSelections(random: random)
      let text = operation.text()
      random = operation.random
      let run = try GraphQL.run(
        RandomSelections.schema, text, "--entity Being --primary-key id --client \(client)")
      let made = run.files["Being_inits_generated.swift"] ?? ""
      #expect(run.status == 0, "DFLAT_SEED=\(random.seed)\n\(run.errors)\(text)")
      let lost = ["User", "Bot"].flatMap { operation.lost(of: $0, in: made) }
      #expect(lost.isEmpty, "DFLAT_SEED=\(random.seed)\n\(lost)\n\(text)\n\(made)")
    }
  }

  @Test("would be noticed if they lost something")
  func notices() throws {
    let operation = RandomSelections.twoForms
    let lost = operation.lost(
      of: "User",
      in: """
        extension Being.Subtype {
          init?(_ obj: RQuery.Data.Being) {
            case "User":
              guard let object = obj.asUser else { return nil }
              self = .user(Being.User(object))
        }
        extension Being.User {
          public init(_ obj: RQuery.Data.Being.AsUser) {
            self.init(name: obj.name)
          }
        }
        """)
    #expect(lost == ["age of a User where A", "age of a User where A, NotB"])
  }
}

/// An operation of type cases, fragments and conditions inside of each other.
private struct RandomSelections {
  static let schema = """
    interface Settled { home: Place }
    interface Being { id: ID!  name: String!  home: Place }
    type User implements Being & Settled {
      id: ID!  name: String!  home: Place  age: Int!  born: Int
    }
    type Bot implements Being { id: ID!  name: String!  home: Place  model: String }
    type Place { title: String! }
    type Query { being: Being! }
    """

  private static let fields = [
    "Being": ["name", "home"], "User": ["name", "age", "born", "home"],
    "Bot": ["name", "model", "home"], "Settled": ["home"],
  ]
  private static let objects: [String: Set<String>] = [
    "Being": ["User", "Bot"], "User": ["User"], "Bot": ["Bot"], "Settled": ["User"],
  ]

  /// A field with everything that must be true for a response to have it.
  private struct Selected {
    let field: String
    let objects: Set<String>
    let conditions: Set<String>
  }

  var random: SeededGenerator
  private var selected: [Selected] = []
  /// By their properties: on which types they are, and under which conditions they are spread.
  private var fragments: [String: (objects: Set<String>, conditions: Set<String>)] = [:]
  private var definitions = ""

  init(random: SeededGenerator) { self.random = random }

  /// `... on User { name } ... on User @include(if: $a) { age }`.
  static var twoForms: RandomSelections {
    var operation = RandomSelections(random: SeededGenerator(seed: 0))
    operation.selected = [
      Selected(field: "name", objects: ["User"], conditions: []),
      Selected(field: "age", objects: ["User"], conditions: ["A"]),
    ]
    return operation
  }

  mutating func text() -> String {
    let selection = selection(of: "Being", ["User", "Bot"], [], depth: 3)
    let variables = ["a", "b"].filter { (selection + definitions).contains("$\($0)") }
      .map { "$\($0): Boolean!" }.joined(separator: ", ")
    return "query R\(variables.isEmpty ? "" : "(\(variables))") { being { id \(selection) } }\n"
      + definitions
  }

  /// A directive and its name in Apollo's structs.
  private mutating func condition() -> (text: String, names: Set<String>) {
    if !random.oneIn(3) { return ("", []) }
    return random.oneIn(2) ? (" @include(if: $a)", ["A"]) : (" @skip(if: $b)", ["NotB"])
  }

  private mutating func selection(
    of type: String, _ objects: Set<String>, _ conditions: Set<String>, depth: Int
  ) -> String {
    var parts: [String] = []
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let (directive, names) = condition()
      let all = conditions.union(names)
      if depth == 0 || random.oneIn(2) {
        let field = random.pick(Self.fields[type] ?? [])
        parts.append(field + directive + (field == "home" ? " { title }" : ""))
        selected.append(Selected(field: field, objects: objects, conditions: all))
        continue
      }
      let candidates = Self.objects.filter { !$0.value.isDisjoint(with: Self.objects[type] ?? []) }
      let inner = random.pick(candidates.keys.sorted())
      let innerObjects = objects.intersection(Self.objects[inner] ?? [])
      if random.oneIn(3) {
        let number = fragments.count
        fragments["f\(number)"] = (Self.objects[inner] ?? [], names)
        let text = selection(of: inner, innerObjects, all, depth: depth - 1)
        definitions += "fragment F\(number) on \(inner) { \(text) }\n"
        parts.append("...F\(number)\(directive)")
      } else {
        let text = selection(of: inner, innerObjects, all, depth: depth - 1)
        parts.append("... on \(inner)\(directive) { \(text) }")
      }
    }
    return parts.joined(separator: " ")
  }

  // MARK: Checks

  /// The fields that responses have and generated code does not read from them.
  func lost(of object: String, in code: String) -> [String] {
    let (narrowing, values) = Self.values(of: object, in: code)
    var lost: [String] = []
    for conditions: Set<String> in [[], ["A"], ["NotB"], ["A", "NotB"]] {
      let fields = selected.filter {
        $0.objects.contains(object) && $0.conditions.isSubset(of: conditions)
      }
      for field in Set(fields.map(\.field)).sorted() {
        let isRead = Self.paths(to: field, in: values[field] ?? "").contains { path in
          (narrowing + path).allSatisfy { leads($0, object, conditions) }
        }
        if !isRead {
          let place = conditions.sorted().joined(separator: ", ")
          lost.append("\(field) of a \(object) where \(place)")
        }
      }
    }
    return lost
  }

  /// The property that makes an object narrower, and the expressions of the table's fields.
  private static func values(
    of object: String, in code: String
  ) -> (narrowing: [String], values: [String: String]) {
    let whole = code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let member = whole.ranges(of: "init?(_ obj: RQuery.Data.Being) {").last
      .map { whole[$0.upperBound...] }?.firstRange(of: "case \"\(object)\":")
    guard let member else { return ([], [:]) }
    let call = whole[member.upperBound...].prefix { $0 != ":" }
    let property = call.firstMatch(of: /guard let object = obj\.(\w+) else/)
      .map { String($0.1) }
    let place =
      "RQuery.Data.Being"
      + (property.map { ".\($0.prefix(1).uppercased())\($0.dropFirst())" } ?? "")
    let start = "extension Being.\(object) {"
    let bodies = whole.ranges(of: start).map { whole[$0.upperBound...] }
    guard let body = bodies.first(where: { $0.prefix { $0 != "{" }.contains("_ obj: \(place))") })
    else { return ([], [:]) }
    let text = body.firstRange(of: "extension ").map { body[..<$0.lowerBound] } ?? body
    var values: [String: String] = [:]
    // What follows a name, up to the next one.
    let names = text.ranges(of: /(?:let )?\b\w+:\ /)
    for (index, name) in names.enumerated() {
      let end = index + 1 < names.count ? names[index + 1].lowerBound : text.endIndex
      let key = text[name].drop { $0 == " " }.replacing("let ", with: "").dropLast(2)
      values[String(key), default: ""] += text[name.upperBound..<end]
    }
    return (property.map { [$0] } ?? [], values)
  }

  /// The ways to a field in an expression, by the properties before it.
  private static func paths(to field: String, in expression: String) -> [[String]] {
    expression.matches(of: /\bobj((?:\.\w+\??)+)/).compactMap { match in
      let properties = match.1.split(separator: ".").map { String($0.replacing("?", with: "")) }
      return properties.firstIndex(of: field).map { Array(properties[..<$0]) }
    }
  }

  /// Whether a property is there in an object, where conditions are true.
  private func leads(_ property: String, _ object: String, _ conditions: Set<String>) -> Bool {
    if property == "fragments" { return true }
    if let fragment = fragments[property] {
      return fragment.objects.contains(object) && fragment.conditions.isSubset(of: conditions)
    }
    guard let form = property.wholeMatch(of: /(?:as([A-Za-z]+?))?(?:[iI]f(\w+))?/) else {
      return false
    }
    let types = form.1.map { String($0).components(separatedBy: "Or") } ?? ["Being"]
    let needed = form.2.map { String($0).components(separatedBy: "And") } ?? []
    return types.contains { Self.objects[$0]?.contains(object) == true }
      && conditions.isSuperset(of: needed)
  }
}
