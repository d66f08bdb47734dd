// Defaults of input fields that contain themselves: no service could write out their values.
//
// Where the default of a field is an object, the fields that this leaves out have their own
// defaults. A field leads to those; a cycle of such steps is a value without an end (3.10).

import Diagnostics

struct DefaultCycles {
  /// An input field that has a default, and an input object as its type, perhaps in lists.
  private struct Node {
    let name: String
    let field: InputValue
    let value: ValueSyntax
    let type: NamedType
  }

  private let schema: Schema
  private var nodes: [Node] = []
  /// Positions in `nodes`, by the names of the input objects that have the fields.
  private var numbers: [String: [Int]] = [:]

  /// Reports each default that contains itself.
  static func check(_ schema: Schema, sink: DiagnosticSink) {
    let cycles = DefaultCycles(schema)
    forEachCycle(among: cycles.nodes.count, next: cycles.uses) { path, _ in
      let nodes = path.map { cycles.nodes[$0] }
      let others = nodes.dropFirst().prefix(10).map { "'\($0.name)'" }
      let way = others.isEmpty ? "" : ", through \(others.joined(separator: ", "))"
      sink.error(
        "the default of '\(nodes[0].name)' contains itself\(way)", at: nodes[0].field.range,
        rule: "TypeValidation",
        notes: [.hint("leave out one of the defaults, or give the next field a value in it")])
    }
  }

  private init(_ schema: Schema) {
    self.schema = schema
    for owner in schema.types where owner.kind == .inputObject {
      for field in owner.inputFields {
        guard let value = field.defaultValue, let type = inputObject(of: field) else { continue }
        numbers[owner.name, default: []].append(nodes.count)
        nodes.append(
          Node(name: "\(owner.name).\(field.name)", field: field, value: value, type: type))
      }
    }
  }

  private func inputObject(of field: InputValue) -> NamedType? {
    guard let type = schema.type(in: field.type), type.kind == .inputObject else { return nil }
    return type
  }

  /// The fields whose defaults are in that of a field.
  private func uses(of node: Int) -> [Int?] {
    var result: [Int] = []
    collectUses(of: nodes[node].value, nodes[node].type, &result)
    return result
  }

  /// The parser limits nesting.
  private func collectUses(of value: ValueSyntax, _ type: NamedType, _ result: inout [Int]) {
    switch value.kind {
    case .list(let elements):
      for element in elements { collectUses(of: element, type, &result) }
    case .object(let given):
      for number in numbers[type.name] ?? [] {
        let name = nodes[number].field.name
        if !given.contains(where: { $0.name.text == name }) { result.append(number) }
      }
      for argument in given {
        guard let field = type.inputField(named: argument.name.text),
          let inner = inputObject(of: field)
        else { continue }
        collectUses(of: argument.value, inner, &result)
      }
    case .variable, .integer, .float, .string, .boolean, .null, .enumeration: break
    }
  }
}
