// Random operations for a schema, most of them with a mistake or two.
//
// Everything is written so that it would be valid, except that each choice goes wrong once in a
// while: another name, another value, one more or one less.

import GraphQLSchema
import SeededRandom

struct RandomDocument {
  private let schema: Schema
  private var random: SeededGenerator
  /// One in this many choices is wrong.
  private let care: Int
  private var variables: [(name: String, type: TypeReference)] = []
  private var fragments: [(name: String, type: String)] = []

  /// A document for `schema`; equal seeds give equal texts.
  static func text(for schema: Schema, seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    let care = random.pick([15, 60, 400, 4000])
    var document = RandomDocument(schema: schema, random: random, care: care)
    return document.text()
  }

  private init(schema: Schema, random: SeededGenerator, care: Int) {
    self.schema = schema
    self.random = random
    self.care = care
  }

  private mutating func slips() -> Bool { random.oneIn(care) }

  private mutating func text() -> String {
    let composites = schema.types.filter { $0.isComposite && !$0.isBuiltIn }
    for number in 0..<Int.random(in: 0...3, using: &random) {
      fragments.append(("F\(number)", random.pick(composites).name))
    }
    var parts: [String] = []
    let count = random.pick([1, 1, 1, 1, 2, 3])
    var bodies: [(kind: OperationKind, name: String, text: String)] = []
    for number in 0..<count {
      let kind = random.pick([.query, .query, .query, .mutation, .subscription] as [OperationKind])
      let name = slips() ? "Q0" : count == 1 && random.oneIn(2) || slips() ? "" : "Q\(number)"
      guard let root = schema.rootType(of: kind) else { continue }
      bodies.append((kind, name, selections(of: root, depth: kind == .subscription ? 1 : 0)))
    }
    for (number, fragment) in fragments.enumerated() {
      let name = slips() ? "F0" : fragment.name
      let type = slips() ? random.pick(schema.types).name : fragment.type
      let body = schema.type(named: fragment.type).map { selections(of: $0, depth: 1) } ?? ""
      // Only later fragments are spread, so there are cycles only by mistake.
      parts.append("fragment \(name) on \(type)\(directive(.fragmentDefinition)) \(body)")
      _ = number
    }
    for body in bodies {
      var declared: [String] = []
      for variable in variables where !slips() {
        let type = slips() ? "Dog" : variable.type.description
        declared.append(
          "$\(variable.name): \(type)" + (random.oneIn(6) ? defaultValue(variable.type) : ""))
        if slips() { declared.append("$\(variable.name): Int") }
      }
      if slips() { declared.append("$unused: Int") }
      let list = declared.isEmpty ? "" : "(\(declared.joined(separator: ", ")))"
      let isShort = body.name.isEmpty && list.isEmpty && body.kind == .query
      parts.append(
        (isShort ? "" : "\(body.kind.rawValue) \(body.name)\(list)") + " \(body.text)")
    }
    return parts.shuffled(using: &random).joined(separator: "\n")
  }

  // MARK: Selections

  private mutating func selections(of type: NamedType, depth: Int) -> String {
    var parts: [String] = []
    for _ in 0..<Int.random(in: 1...(depth == 0 ? 3 : 4), using: &random) {
      parts.append(selection(of: type, depth: depth))
    }
    return "{ \(parts.joined(separator: " ")) }"
  }

  private mutating func selection(of type: NamedType, depth: Int) -> String {
    if depth < 4, random.oneIn(5) {
      let candidates = schema.types.filter { $0.isComposite && schema.overlap($0, type) }
      let other = slips() ? random.pick(schema.types) : random.pick(candidates)
      let condition = random.oneIn(4) ? "" : " on \(other.name)"
      let inner = condition.isEmpty ? type : other
      return "...\(condition)\(directive(.inlineFragment)) "
        + selections(of: inner.isComposite ? inner : type, depth: depth + 1)
    }
    if random.oneIn(6) {
      let fitting = fragments.filter { fragment in
        schema.type(named: fragment.type).map { schema.overlap($0, type) } ?? false
      }
      if slips() { return "...Missing" }
      let chosen =
        slips() ? fragments.randomElement(using: &random) : fitting.randomElement(using: &random)
      if let chosen { return "...\(chosen.name)\(directive(.fragmentSpread))" }
    }
    guard type.kind != .union, !random.oneIn(12),
      let field = type.fields.randomElement(using: &random)
    else { return "__typename" }
    return self.field(
      slips() ? random.pick(["name", "a", "__schema", field.name + "x"]) : field.name, field, depth)
  }

  private mutating func field(_ name: String, _ field: OutputField, _ depth: Int) -> String {
    let alias = random.oneIn(6) ? random.pick(["x: ", "y: ", "name: "]) : ""
    var given: [String] = []
    for argument in field.arguments where argument.isRequired ? !slips() : random.oneIn(2) {
      let name = slips() ? "wrong" : argument.name
      given.append("\(name): \(value(argument.type, depth: 0))")
      if slips() { given.append("\(name): 1") }
    }
    if slips() { given.append("other: 3") }
    let arguments = given.isEmpty ? "" : "(\(given.joined(separator: ", ")))"
    let head = alias + name + arguments + directive(.field)
    guard let type = schema.type(in: field.type) else { return head }
    if type.isLeaf { return slips() ? head + " { name }" : head }
    return slips()
      ? head : head + " " + (depth > 4 ? "{ __typename }" : selections(of: type, depth: depth + 1))
  }

  private mutating func directive(_ location: DirectiveLocation) -> String {
    guard random.oneIn(15) || slips() else { return "" }
    if slips() { return " @unknown" }
    let known = schema.directives.filter { slips() || $0.locations.contains(location) }
    guard let directive = known.randomElement(using: &random) else { return "" }
    var given: [String] = []
    for argument in directive.arguments where argument.isRequired ? !slips() : random.oneIn(2) {
      given.append("\(argument.name): \(value(argument.type, depth: 0))")
    }
    let text = " @\(directive.name)" + (given.isEmpty ? "" : "(\(given.joined(separator: ", ")))")
    return slips() ? text + text : text
  }

  // MARK: Values

  private mutating func value(_ type: TypeReference, depth: Int) -> String {
    if random.oneIn(5) {
      if slips(), let any = variables.randomElement(using: &random) { return "$\(any.name)" }
      if let fitting = variables.filter({ $0.type == type }).randomElement(using: &random) {
        return "$\(fitting.name)"
      }
      variables.append(("v\(variables.count)", random.oneIn(8) ? type.nullable : type))
      return "$v\(variables.count - 1)"
    }
    return literal(type, depth: depth)
  }

  private mutating func defaultValue(_ type: TypeReference) -> String {
    let count = variables.count
    let text = literal(type, depth: 5)
    // A default is constant, so what became a variable is not taken.
    variables.removeLast(variables.count - count)
    return text.contains("$") ? "" : " = \(text)"
  }

  private mutating func literal(_ type: TypeReference, depth: Int) -> String {
    if slips() {
      return random.pick([
        "1", "\"s\"", "null", "[1]", "{a: 1}", "1.5", "true", "SIT", "$z", "{}", "[[]]",
      ])
    }
    if !type.isNonNull, random.oneIn(10) { return "null" }
    if let element = type.element {
      if random.oneIn(5) { return literal(element, depth: depth) }
      let count = Int.random(in: 0...2, using: &random)
      var elements: [String] = []
      for _ in 0..<count { elements.append(value(element, depth: depth + 1)) }
      return "[\(elements.joined(separator: ", "))]"
    }
    guard let named = schema.type(in: type) else { return "0" }
    switch named.kind {
    case .enumeration: return random.pick(named.values).name
    case .inputObject:
      var fields: [String] = []
      for field in named.inputFields where field.isRequired || depth < 3 && random.oneIn(2) {
        if slips() { continue }
        fields.append("\(slips() ? "wrong" : field.name): \(value(field.type, depth: depth + 1))")
        if slips() { fields.append("\(field.name): 1") }
      }
      return "{\(fields.joined(separator: ", "))}"
    default:
      switch named.name {
      case "Int": return random.pick(["0", "-7", "2147483647"])
      case "Float": return random.pick(["1", "2.5", "-1e3"])
      case "Boolean": return random.pick(["true", "false"])
      case "ID": return random.pick(["4", "\"four\""])
      case "String": return random.pick(["\"a\"", "\"\"\"b\"\"\"", "\"\""])
      default: return random.pick(["1", "\"a\"", "[1, {b: null}]", "{a: [C]}", "true"])
      }
    }
  }
}
