// Conditions as text, for explanations.

extension Node: CustomStringConvertible {
  /// The condition with storage names for fields: `(f10 > 5 && !f24)`.
  public var description: String {
    switch self {
    case .field(let field): field.path
    case .constant(let value, _): value.text
    case .arithmetic(let operation, let left, let right, _):
      "(\(left) \(operation.symbol) \(right))"
    case .comparison(let operation, let left, let right, _):
      "\(left) \(operation.symbol) \(right)"
    case .and(let parts): "(\(parts.map(\.description).joined(separator: " && ")))"
    case .or(let parts): "(\(parts.map(\.description).joined(separator: " || ")))"
    case .not(let operand): "!(\(operand))"
    case .isNull(let operand, _, let negated): "\(operand).\(negated ? "isNotNull" : "isNull")"
    case .membership(let operand, let values, _, let negated):
      "\(operand).\(negated ? "notIn" : "in")([\(values.map(\.text).joined(separator: ", "))])"
    }
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
  /// The operator as it is written, in Swift.
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
