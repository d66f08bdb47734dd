// Comparisons and arithmetic.

import Dflat

extension QueryBinder {
  /// A comparison or an arithmetic operator.
  func binary(
    _ sign: String, _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ range: Range<Int>
  ) throws(QueryTextError) -> Operand {
    let (first, second) = (try bind(left), try bind(right))
    if let operation = ComparisonOperator(sign: sign) {
      return Operand(try compare(first, operation, second, left, right, range), .bool)
    }
    return try arithmetic(sign, first, second, left, right)
  }

  /// A value between two others, which is bound once.
  func between(
    _ value: ExpressionSyntax, _ low: ExpressionSyntax, _ high: ExpressionSyntax,
    _ range: Range<Int>
  ) throws(QueryTextError) -> Node {
    let bound = try bind(value)
    let lower = try compare(bound, .greaterOrEqual, try bind(low), value, low, range)
    let upper = try compare(bound, .lessOrEqual, try bind(high), value, high, range)
    return .conjunction(lower, upper)
  }

  /// The value of a part, or the tag of a union; nil for a constant, a table and so on.
  private func valued(_ bound: Bound) -> Operand? {
    switch bound {
    case .value(let operand): operand
    case .union(let union): tag(of: union)
    default: nil
    }
  }

  /// A comparison of a table, or of two constants.
  private func comparePresence(
    _ first: Bound, _ operation: ComparisonOperator, _ second: Bound, _ left: ExpressionSyntax,
    _ right: ExpressionSyntax
  ) throws(QueryTextError) -> Node {
    for (bound, other, syntax) in [(first, second, left), (second, first, right)] {
      if case .name(let name) = bound { throw unknown(name, syntax.range) }
      if case .object = bound, case .null = other, operation == .equal || operation == .notEqual {
        return try isNull(bound, syntax.range, isNegated: operation == .notEqual).node
      }
      if case .object = bound {
        throw error("a table can only be compared with null", syntax.range)
      }
      if case .vector = bound {
        throw error(
          "a vector cannot be compared", syntax.range,
          hint: "compare its 'count', or use 'contains(…)', 'any { $0 … }' or 'all { $0 … }'")
      }
    }
    throw error("two constants are compared", left.range, hint: "one of them must be a field")
  }

  // MARK: Comparisons

  private func compare(
    _ first: Bound, _ operation: ComparisonOperator, _ second: Bound, _ left: ExpressionSyntax,
    _ right: ExpressionSyntax, _ range: Range<Int>
  ) throws(QueryTextError) -> Node {
    switch (valued(first), valued(second)) {
    case (let l?, let r?): try compare(l, operation, r, range)
    case (let l?, nil): try compare(l, operation, second, right)
    case (nil, let r?): try compare(r, operation.mirrored, first, left)
    case (nil, nil): try comparePresence(first, operation, second, left, right)
    }
  }

  func compare(
    _ left: Operand, _ operation: ComparisonOperator, _ right: Operand, _ range: Range<Int>
  ) throws(QueryTextError) -> Node {
    let isPair =
      left.type == right.type || (left.type.isInteger && right.type.isInteger)
    guard isPair else {
      throw error(
        "\(left.described) and \(right.described) cannot be compared", range,
        hint: left.type.isReal && right.type.isReal ? "one is a float, the other a double" : nil)
    }
    return left.node.compared(operation, right.node, left.type, right.type)
  }

  func compare(
    _ operand: Operand, _ operation: ComparisonOperator, _ constant: Bound,
    _ syntax: ExpressionSyntax
  ) throws(QueryTextError) -> Node {
    if case .null = constant {
      guard operation == .equal || operation == .notEqual else {
        throw error("nothing is less or greater than null", syntax.range)
      }
      return .isNull(operand.node, operand.type, negated: operation == .notEqual)
    }
    switch try fit(constant, to: operand, syntax.range) {
    case .value(.string(let text)): return operand.node.compared(operation, to: text)
    case .value(let value):
      return .comparison(
        operation, operand.node, .constant(value, operand.type), operand.type)
    case .between(let floor):
      // No whole number is equal to one with a fraction.
      let node = Node.constant(floor, operand.type)
      switch operation {
      case .less, .lessOrEqual:
        return .comparison(.lessOrEqual, operand.node, node, operand.type)
      case .greater, .greaterOrEqual:
        return .comparison(.greater, operand.node, node, operand.type)
      case .equal, .notEqual: return same(operand, operation == .notEqual)
      }
    case .tooGreat:
      return same(operand, [.less, .lessOrEqual, .notEqual].contains(operation))
    case .tooSmall:
      return same(operand, [.greater, .greaterOrEqual, .notEqual].contains(operation))
    case .unordered:
      let unknown = Node.constant(.real(.nan), .double)
      return .comparison(operation, unknown, unknown, .double)
    }
  }

  /// The same result for every known value.
  private func same(_ operand: Operand, _ isTrue: Bool) -> Node {
    .comparison(isTrue ? .equal : .notEqual, operand.node, operand.node, operand.type)
  }

  // MARK: Arithmetic

  private func arithmetic(
    _ sign: String, _ first: Bound, _ second: Bound, _ left: ExpressionSyntax,
    _ right: ExpressionSyntax
  ) throws(QueryTextError) -> Operand {
    let operation: ArithmeticOperator =
      switch sign {
      case "+": .add
      case "-": .subtract
      case "*": .multiply
      case "/": .divide
      default: .remainder
      }
    func constant(
      _ bound: Bound, _ syntax: ExpressionSyntax, beside operand: Operand
    ) throws(QueryTextError) -> Node {
      guard case .value(let value) = try fit(bound, to: operand, syntax.range) else {
        throw error("this number does not fit the type of the field beside it", syntax.range)
      }
      return .constant(value, operand.type)
    }
    func number(_ operand: Operand, _ syntax: ExpressionSyntax) throws(QueryTextError) {
      guard operand.isNumber else {
        throw error("\(operand.described) has no arithmetic", syntax.range)
      }
      if operation == .remainder, operand.type.isReal {
        throw error("'%' needs whole numbers", syntax.range)
      }
    }
    switch (valued(first), valued(second)) {
    case (let l?, let r?):
      try number(l, left)
      try number(r, right)
      guard l.type == r.type else {
        throw error(
          "these have different types of numbers, which have no arithmetic with each other",
          left.range.lowerBound..<right.range.upperBound)
      }
      return Operand(.arithmetic(operation, l.node, r.node, l.type), l.type)
    case (let l?, nil):
      try number(l, left)
      let other = try constant(second, right, beside: l)
      return Operand(.arithmetic(operation, l.node, other, l.type), l.type)
    case (nil, let r?):
      try number(r, right)
      let other = try constant(first, left, beside: r)
      return Operand(.arithmetic(operation, other, r.node, r.type), r.type)
    case (nil, nil):
      for (bound, syntax) in [(first, left), (second, right)] {
        if case .name(let name) = bound { throw unknown(name, syntax.range) }
      }
      throw error("one side must be a field", left.range.lowerBound..<right.range.upperBound)
    }
  }
}

extension ComparisonOperator {
  fileprivate init?(sign: String) {
    switch sign {
    case "=", "==": self = .equal
    case "!=", "<>": self = .notEqual
    case "<": self = .less
    case "<=": self = .lessOrEqual
    case ">": self = .greater
    case ">=": self = .greaterOrEqual
    default: return nil
    }
  }
}

extension ValueType {
  var isReal: Bool { self == .float || self == .double }
  var isInteger: Bool { !isReal && self != .bool && self != .string }
}
