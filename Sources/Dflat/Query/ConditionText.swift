// Conditions as text with the schema's names, for explanations: `(likes > 5 && state == Read)`.
//
// Descriptors hold offsets and tags only. The names are found by walking the entity's layouts along a descriptor's steps,
// which happens when somebody asks for an explanation and never otherwise.

/// Writes conditions on one entity type.
struct ConditionText {
  private let root: TableLayout

  init(_ schema: EntitySchema) {
    root = schema.layout
  }

  /// The whole condition, without parentheses around it.
  func condition(_ node: Node) -> String {
    switch node {
    case .and(let parts): parts.map(text).joined(separator: " && ")
    case .or(let parts): parts.map(text).joined(separator: " || ")
    default: text(node)
    }
  }

  private func text(_ node: Node) -> String {
    switch node {
    case .field(let field): name(field).text
    case .constant(let value, _): value.text
    case .arithmetic(let operation, let left, let right, _):
      "(\(text(left)) \(operation.symbol) \(text(right)))"
    case .comparison(let operation, let left, let right, _):
      "\(text(left, beside: right)) \(operation.symbol) \(text(right, beside: left))"
    case .and, .or: "(\(condition(node)))"
    case .not(let operand):
      if case .comparison = operand { "!(\(text(operand)))" } else { "!\(text(operand))" }
    case .isNull(let operand, _, let negated):
      "\(text(operand)).\(negated ? "isNotNull" : "isNull")"
    case .membership(let operand, let values, _, let negated):
      "\(text(operand)).\(negated ? "notIn" : "in")"
        + "([\(values.map { text($0, beside: operand) }.joined(separator: ", "))])"
    }
  }

  /// A constant beside an enum field or a union's tag has a name.
  private func text(_ node: Node, beside other: Node) -> String {
    if case .constant(let value, _) = node { text(value, beside: other) } else { text(node) }
  }

  private func text(_ value: Value, beside other: Node) -> String {
    guard case .field(let field) = other else { return value.text }
    return name(field).constant(value) ?? value.text
  }
}

// MARK: Fields

/// A field's name, and what its values are called.
private struct FieldName {
  var text: String
  /// The values that have names.
  var values: [(name: String, value: Int64)] = []
  /// Whether values are combined from those.
  var isBitFlags = false

  func constant(_ value: Value) -> String? {
    let raw: Int64
    switch value {
    case .integer(let value): raw = value
    case .unsigned(let value): raw = Int64(bitPattern: value)
    default: return nil
    }
    if let known = values.first(where: { $0.value == raw }) { return known.name }
    guard isBitFlags else { return nil }
    let parts = values.filter { $0.value & raw == $0.value && $0.value != 0 }
    guard parts.reduce(0, { $0 | $1.value }) == raw else { return nil }
    return "[\(parts.map(\.name).joined(separator: ", "))]"
  }
}

extension ConditionText {
  /// - Parameter field: A field of the entity; of several behind aliases of one type, all their names.
  private func name(_ field: FieldDescriptor) -> FieldName {
    guard let first = field.alternatives.first else { return name(field.steps, field.leaf) }
    var name = name(first)
    name.text = "(\(field.alternatives.map { self.name($0).text }.joined(separator: " | ")))"
    return name
  }

  private func name(_ steps: [FieldStep], _ leaf: FieldLeaf) -> FieldName {
    var parts: [String] = []
    var properties = root.properties
    for step in steps {
      let (offset, tag): (Int, UInt8?) =
        switch step {
        case .table(let offset), .structure(let offset, _): (offset, nil)
        case .tableMember(let offset, let tag), .structureMember(let offset, let tag, _):
          (offset, tag)
        }
      guard let property = properties.first(where: { $0.offset == offset }) else { break }
      parts.append(property.name)
      var kind = property.kind
      if let tag, case .union(let union) = kind, let member = union().member(tag) {
        parts.append("as(\(member.name))")
        kind = member.kind
      }
      properties = kind.properties
    }
    var name = name(leaf, in: properties)
    name.text = (parts + [name.text]).joined(separator: ".")
    return name
  }

  private func name(_ leaf: FieldLeaf, in properties: [Property]) -> FieldName {
    func property(_ offset: Int) -> Property? { properties.first { $0.offset == offset } }
    switch leaf {
    case .scalar(let offset), .string(let offset):
      return name(property(offset), or: offset)
    case .structScalar(let offset):
      // The field itself, or a struct that spans it.
      guard let holder = properties.last(where: { $0.offset <= offset }) else {
        return name(nil, or: offset)
      }
      guard case .structure(let inner) = holder.kind else { return name(holder, or: offset) }
      var name = name(.structScalar(offset - holder.offset), in: inner().properties)
      name.text = holder.name + "." + name.text
      return name
    case .unionTag(let offset):
      var name = name(property(offset), or: offset)
      name.text += "._type"
      if case .union(let union)? = property(offset)?.kind {
        name.values = union().members.map { ($0.name, Int64($0.tag)) }
      }
      return name
    case .stringMember(let offset, let tag):
      var name = name(property(offset), or: offset)
      if case .union(let union)? = property(offset)?.kind, let member = union().member(tag) {
        name.text += ".as(\(member.name))"
      }
      return name
    }
  }

  /// - Parameter offset: Stands for a name that the layout does not have.
  private func name(_ property: Property?, or offset: Int) -> FieldName {
    guard let property else { return FieldName(text: "f\(offset)") }
    guard case .enumeration(let layout, _) = property.kind else {
      return FieldName(text: property.name)
    }
    return FieldName(
      text: property.name, values: layout().values, isBitFlags: layout().isBitFlags)
  }
}

extension Property.Kind {
  /// The fields of what the property refers to.
  fileprivate var properties: [Property] {
    switch self {
    case .table(let layout): layout().properties
    case .structure(let layout): layout().properties
    default: []
    }
  }
}

// MARK: Constants and operators

extension Value {
  fileprivate var text: String {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): "\(value)"
    case .string(let value): String(reflecting: value)
    }
  }
}

extension ArithmeticOperator {
  fileprivate var symbol: String {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .remainder: "%"
    }
  }
}

extension ComparisonOperator {
  /// The operator as it is written, in Swift and in SQLite's SQL.
  public var symbol: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}
