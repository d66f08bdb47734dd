// Conditions as text, for explanations, with the schema's names and as a program would write them.

extension Node {
  /// The condition with the schema's names for fields, union members and enum values:
  /// `likes > 5 && status == Draft`.
  package func text(in schema: EntitySchema) -> String {
    text(Naming(schema: schema), within: .lowest)
  }

  /// The same with constants as they are stored: two conditions with different constants differ.
  func storedText(in schema: EntitySchema) -> String {
    text(Naming(schema: schema, showsStoredValues: true), within: .lowest)
  }

  /// How tightly an operator binds its operands. An operand that binds less tightly than its
  /// context gets parentheses.
  private enum Precedence: Int {
    case lowest, or, and, comparison, sum, product, operand
  }

  private func text(_ schema: Naming, within outer: Precedence) -> String {
    enum Step {
      case node(Node, within: Precedence)
      case text(String)
    }
    var steps = [Step.node(self, within: outer)]
    var text = ""
    /// Puts the parts of a connective between signs on the steps, in reverse order.
    func add(
      _ parts: NodeParts, _ symbol: String, _ own: Precedence, _ inner: Precedence,
      within outer: Precedence
    ) {
      let isInner = own.rawValue < outer.rawValue
      if isInner {
        text += "("
        steps.append(.text(")"))
      }
      for (place, part) in parts.reversed().enumerated() {
        if place > 0 { steps.append(.text(symbol)) }
        steps.append(.node(part, within: inner))
      }
    }
    while let step = steps.popLast() {
      switch step {
      case .text(let part): text += part
      case .node(.and(let parts), let outer): add(parts, " && ", .and, .comparison, within: outer)
      case .node(.or(let parts), let outer): add(parts, " || ", .or, .and, within: outer)
      case .node(.not(let operand), let outer):
        // `(!a).isNull` differs from `!a.isNull`.
        let isMember = outer == .operand
        text += isMember ? "(!" : "!"
        if isMember { steps.append(.text(")")) }
        steps.append(.node(operand, within: .operand))
      case .node(let node, let outer):
        let (part, own) = node.written(schema)
        text += own.rawValue < outer.rawValue ? "(\(part))" : part
      }
    }
    return text
  }

  /// The text of an expression that is no connective.
  private func written(_ schema: Naming) -> (String, Precedence) {
    // Comparisons do not associate, and neither does the right side of a subtraction.
    func infix(
      _ symbol: String, _ left: Node, _ right: Node, _ own: Precedence, _ sides: Precedence
    ) -> (String, Precedence) {
      let first =
        left.constantText(schema, beside: right)
        ?? left.text(schema, within: own == .comparison ? sides : own)
      let second = right.constantText(schema, beside: left) ?? right.text(schema, within: sides)
      return ("\(first) \(symbol) \(second)", own)
    }
    switch self {
    case .field(let field):
      return (schema.name(of: field) + (field.isVectorCount ? ".count" : ""), .operand)
    case .constant(let value, _): return (value.text, .operand)
    case .arithmetic(let operation, let left, let right, _):
      return operation.isSum
        ? infix(operation.symbol, left, right, .sum, .product)
        : infix(operation.symbol, left, right, .product, .operand)
    case .unary(.negate, let operand, _):
      return ("-" + operand.text(schema, within: .operand), .product)
    case .unary(.magnitude, let operand, _):
      return ("abs(\(operand.text(schema, within: .lowest)))", .operand)
    case .comparison(let operation, let left, let right, _):
      return infix(operation.symbol, left, right, .comparison, .sum)
    case .mixedComparison(let operation, let left, let right):
      return infix(operation.symbol, left, right, .comparison, .sum)
    case .and, .or, .not: return (text(schema, within: .lowest), .lowest)
    case .isNull(let operand, _, let negated):
      return (operand.member(schema) + (negated ? "isNotNull" : "isNull"), .operand)
    case .membership(let operand, let values, _, let negated):
      let list = values.map { operand.text(of: $0, schema) }.joined(separator: ", ")
      return (operand.member(schema) + "\(negated ? "notIn" : "in")([\(list)])", .operand)
    case .match(let tag, let tags):
      let list = tags.map { Node.field(tag).text(of: $0, schema) }.joined(separator: ", ")
      return (schema.name(of: tag, withoutTag: true) + ".match(\(list))", .operand)
    case .bits(let operand, let test, let mask, _):
      return (operand.member(schema) + "\(test)(\(operand.text(of: mask, schema)))", .operand)
    case .folded(let operand): return (operand.member(schema) + "caseInsensitive", .operand)
    case .quantified(let quantifier, let element, let condition):
      let vector =
        element.vectors.count == 1
        ? schema.name(of: element.vectors[0])
        : schema.name(of: FieldDescriptor(oneOf: element.vectors))
      let inner = condition.text(schema.entering(element), within: .lowest)
      return ("\(vector).\(quantifier) { \(inner) }", .operand)
    case .call(let call):
      let list = call.arguments.map { $0.node.text(schema, within: .lowest) }
      return ("\(call.name)(\(list.joined(separator: ", ")))", .operand)
    case .search(let search): return (search.text, .operand)
    case .relevance(let search, _): return (search.text + ".relevance()", .operand)
    case .text(let operand, let test): return (operand.member(schema) + test.text, .operand)
    }
  }

  /// The expression, followed by a dot.
  private func member(_ schema: Naming) -> String { text(schema, within: .operand) + "." }

  private func constantText(_ schema: Naming, beside other: Node) -> String? {
    guard case .constant(let value, _) = self else { return nil }
    return other.text(of: value, schema)
  }

  /// The text of a constant that this expression is compared with.
  private func text(of value: Value, _ schema: Naming) -> String {
    guard case .field(let field) = self else { return value.text }
    return schema.text(of: value, in: field)
  }
}

/// The names of fields at a place in a condition.
private struct Naming {
  let schema: EntitySchema
  /// Whether constants are written as they are stored, and not with their names or Swift types.
  var showsStoredValues = false
  /// The elements that the place is about, from the outermost inwards: `$0`, `$1`.
  var variables: [ElementVariable] = []

  /// The names inside a condition on an element.
  func entering(_ element: ElementVariable) -> Naming {
    Naming(
      schema: schema, showsStoredValues: showsStoredValues, variables: variables + [element])
  }

  func name(of field: FieldDescriptor, withoutTag: Bool = false) -> String {
    schema.name(of: field, withoutTag: withoutTag, elements: variables)
  }

  func text(of value: Value, in field: FieldDescriptor) -> String {
    showsStoredValues ? value.text : schema.text(of: value, in: field)
  }
}

extension EntitySchema {
  /// The text of a stored value of a field: its name in the schema if it has one, or its value in
  /// the field's Swift type.
  func text(of value: Value, in field: FieldDescriptor) -> String {
    if let name = valueName(value, of: field) { return name }
    // Strings need no Swift type in front of them.
    guard let form = field.form, field.type != .string else { return value.text }
    return value.text(as: form) ?? value.text
  }
}

extension Value {
  /// A stored value as text of the Swift value that it represents; nil if it represents none.
  func text<Form: StoredForm>(as form: Form.Type) -> String? {
    Form.Stored(_value: self).flatMap { Form.value($0) }.map { Form.text($0) }
  }
}

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

extension TextTest {
  fileprivate var text: String {
    switch self {
    case .prefix(let text): "hasPrefix(\(String(reflecting: text)))"
    case .suffix(let text): "hasSuffix(\(String(reflecting: text)))"
    case .part(let text): "contains(\(String(reflecting: text)))"
    case .like(let pattern): "like(\(pattern))"
    }
  }
}

extension ArithmeticOperator {
  fileprivate var isSum: Bool { self == .add || self == .subtract }

  fileprivate var symbol: String {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .remainder: "%"
    }
  }
}

extension ComparisonOperator {
  /// The operator in Swift syntax.
  package var symbol: String {
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
