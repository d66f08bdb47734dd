// Random schemas, many of them with a mistake.

import GraphQLSchema
import SeededRandom

struct RandomSchema {
  private var random: SeededGenerator
  private let care: Int
  private let objects = ["Query", "A", "B", "C"]
  private let interfaces = ["I", "J", "K"]
  private let inputs = ["In", "Jn"]
  private let leaves = ["Int", "String", "ID", "E", "S"]
  /// The fields of interfaces, without the braces; those that implement them repeat them.
  private var interfaceFields: [String: [String]] = [:]

  /// A schema in GraphQL's language; equal seeds give equal texts.
  static func text(seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    let care = random.pick([20, 60, 200, 2000])
    var schema = RandomSchema(random: random, care: care)
    return schema.text()
  }

  private init(random: SeededGenerator, care: Int) {
    self.random = random
    self.care = care
  }

  private mutating func slips() -> Bool { random.oneIn(care) }

  private mutating func text() -> String {
    var parts = [
      "scalar S\(directives("SCALAR"))",
      "union U = \(slips() ? "I" : "A") | \(slips() ? "A" : "B")",
      "enum E { X\(directives("ENUM_VALUE")) Y \(slips() ? "X" : "Z") }",
      "directive @mark(n: Int\(slips() ? "!" : ""))\(random.oneIn(2) ? " repeatable" : "") on SCALAR | OBJECT"
        + " | INTERFACE | FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE",
    ]
    for (number, name) in interfaces.enumerated() {
      let below = Array(interfaces[..<number])
      parts.append(composite("interface", name, below, prefix: name.lowercased()))
    }
    for name in objects {
      parts.append(composite("type", name, interfaces, prefix: name.lowercased()))
    }
    for (number, name) in inputs.enumerated() {
      var fields: [String] = []
      for index in 0..<Int.random(in: 1...3, using: &random) {
        let type = random.oneIn(3) ? inputs[random.oneIn(2) ? number : 0] : random.pick(leaves)
        let isRequired = leaves.contains(type) && random.oneIn(3) || slips()
        let field = "f\(slips() ? 0 : index): \(slips() ? "A" : type)\(isRequired ? "!" : "")"
        fields.append(field + (isRequired ? "" : directives("INPUT_FIELD_DEFINITION")))
      }
      parts.append("input \(name) { \(fields.joined(separator: " ")) }")
    }
    if random.oneIn(3) {
      parts.append("extend type \(slips() ? "E" : "A") { extra: \(random.pick(leaves)) }")
    }
    if random.oneIn(3) {
      parts.append("extend enum \(slips() ? "Missing" : "E") { \(slips() ? "X" : "W") }")
    }
    if random.oneIn(3) { parts.append("schema { query: \(slips() ? "I" : "Query") }") }
    if slips() { parts.append("schema { query: Query }") }
    if slips() { parts.append("scalar \(random.pick(["S", "E", "__T"]))") }
    if slips() { parts.append("directive @mark on FIELD") }
    return parts.shuffled(using: &random).joined(separator: "\n")
  }

  private mutating func composite(
    _ keyword: String, _ name: String, _ available: [String], prefix: String
  ) -> String {
    var implemented: [String] = []
    for interface in available where random.oneIn(3) {
      for ancestor in ancestors[interface, default: []] + [interface]
      where !implemented.contains(ancestor) {
        if !slips() { implemented.append(ancestor) }
      }
    }
    if slips(), let again = implemented.first { implemented.append(again) }
    var fields: [String] = []
    for interface in implemented {
      for field in interfaceFields[interface, default: []] where !fields.contains(field) && !slips()
      {
        fields.append(slips() ? field.replacing("!", with: "") : field)
      }
    }
    for index in 0..<Int.random(in: 1...3, using: &random) {
      let field = "\(prefix)\(slips() ? 0 : index)\(arguments()): \(type())"
      fields.append(field)
    }
    if keyword == "interface" {
      ancestors[name] = implemented
      interfaceFields[name] = fields
    }
    let clause = implemented.isEmpty ? "" : " implements " + implemented.joined(separator: " & ")
    let text =
      "\(keyword) \(name)\(clause)\(directives(keyword == "type" ? "OBJECT" : "INTERFACE"))"
    return slips() ? text : text + " { \(fields.joined(separator: " ")) }"
  }

  private var ancestors: [String: [String]] = [:]

  private mutating func type() -> String {
    let base =
      slips()
      ? random.pick(["In", "Missing", "Inte"]) : random.pick(leaves + objects + interfaces + ["U"])
    return random.pick([base, base, base + "!", "[\(base)]", "[\(base)!]!"])
  }

  private mutating func arguments() -> String {
    guard random.oneIn(3) else { return "" }
    let base = slips() ? random.pick(["A", "Missing"]) : random.pick(leaves + inputs)
    let first = "a: \(random.pick([base, base + "!", "[\(base)]"]))"
    let second =
      slips()
      ? ", a: Int" : random.oneIn(2) ? ", b: Int = 3\(directives("ARGUMENT_DEFINITION"))" : ""
    return "(\(first)\(second))"
  }

  private mutating func directives(_ place: String) -> String {
    if slips() { return " @unknown" }
    if slips() { return " @mark(n: 1) @mark(n: 2)" }
    if slips() { return " @mark(m: 1)" }
    if slips() { return " @skip(if: true)" }
    let canBeDeprecated = !["SCALAR", "OBJECT", "INTERFACE"].contains(place)
    if canBeDeprecated, random.oneIn(10) { return " @deprecated(reason: \"old\")" }
    return random.oneIn(10) ? " @mark(n: 1)" : ""
  }
}
