// Comparisons, arithmetic, memberships and tests.

import Dflat

extension QueryBinder {
  /// A comparison or an arithmetic operator.
  func binary(
    _ sign: String, _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ range: Range<Int>
  ) throws(QueryTextError) -> Operand {
    let (first, second) = (try bind(left), try bind(right))
    if let operation = ComparisonOperator(sign: sign) {
      let node: Node
      switch (valued(first), valued(second)) {
      case (let l?, let r?): node = try compare(l, operation, r, range)
      case (let l?, nil): node = try compare(l, operation, second, right)
      case (nil, let r?): node = try compare(r, operation.mirrored, first, left)
      case (nil, nil): node = try comparePresence(first, operation, second, left, right)
      }
      return Operand(node, .bool)
    }
    return try arithmetic(sign, first, second, left, right)
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

  private func compare(
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

  // MARK: Constants

  /// A constant as a value of an expression's type.
  enum Fit {
    case value(Value)
    /// Between this whole number and the next.
    case between(Value)
    case tooSmall, tooGreat
    /// NaN as a whole number.
    case unordered
  }

  /// - Throws: `QueryTextError` if the constant is of another kind.
  func fit(
    _ constant: Bound, to operand: Operand, _ range: Range<Int>
  ) throws(QueryTextError) -> Fit {
    if case .enumeration(let layout, _)? = operand.kind {
      return try fit(constant, to: layout(), operand, range)
    }
    if let union = operand.union, case .name(let name) = constant {
      guard let member = union.members.first(where: { $0.name == name }) else {
        throw error(
          "no member '\(name)' in this union", range,
          hint: suggestion(for: name, among: union.members.map(\.name))
            ?? "there are \(union.members.map(\.name).joined(separator: ", "))")
      }
      return .value(.integer(Int64(member.tag)))
    }
    switch (constant, operand.type) {
    case (.truth(let value), .bool): return .value(.bool(value))
    case (.text(let text), .string): return .value(.string(text))
    case (.number(let number), _) where operand.type != .bool && operand.type != .string:
      return number.fit(operand.type)
    case (.name(let name), _): throw unknown(name, range)
    case (.object, _), (.vector, _), (.list, _):
      throw error("a constant or a field is expected here", range)
    default:
      throw error(
        "\(operand.described) cannot be compared with this", range,
        hint: operand.type == .string
          ? "texts stand in quotation marks" : operand.type == .bool ? "write true or false" : nil)
    }
  }

  private func fit(
    _ constant: Bound, to layout: EnumLayout, _ operand: Operand, _ range: Range<Int>
  ) throws(QueryTextError) -> Fit {
    func value(_ raw: Int64) -> Fit {
      .value(layout.type == .uint64 ? .unsigned(UInt64(bitPattern: raw)) : .integer(raw))
    }
    switch constant {
    case .number(let number): return number.fit(operand.type)
    case .name(let name), .text(let name):
      return value(try self.value(name, of: layout, range))
    case .list(let elements) where layout.isBitFlags:
      var raw: Int64 = 0
      for element in elements {
        guard case .name(let name, _) = element.kind else {
          throw error("the name of a flag is expected here", element.range)
        }
        raw |= try self.value(name, of: layout, element.range)
      }
      return value(raw)
    default:
      throw error(
        "a value of \(layout.name) is expected here", range,
        hint: layout.values.first.map { "for example \($0.name)" })
    }
  }

  private func value(
    _ name: String, of layout: EnumLayout, _ range: Range<Int>
  ) throws(QueryTextError) -> Int64 {
    if let known = layout.values.first(where: { $0.name == name }) { return known.value }
    let names = layout.values.map(\.name)
    throw error(
      "no value '\(name)' in \(layout.name)", range,
      hint: suggestion(for: name, among: names)
        ?? (names.count <= 12 ? "there are \(names.joined(separator: ", "))" : nil))
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

  // MARK: Memberships

  func membership(
    _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ isNegated: Bool
  ) throws(QueryTextError) -> Operand {
    let list = try bind(right)
    if case .vector(let vector) = list {
      // `'a' in tags`.
      let (variable, member) = vector.element()
      let node = try compareElement(member, with: left, right.range)
      let quantified = Node.quantified(.any, variable, node)
      return Operand(isNegated ? .negation(quantified) : quantified, .bool)
    }
    guard case .list(let elements) = list else {
      throw error("a list is expected behind 'in'", right.range, hint: "for example (1, 2, 3)")
    }
    return try membership(try operand(left), elements, isNegated)
  }

  private func membership(
    _ operand: Operand, _ elements: [ExpressionSyntax], _ isNegated: Bool
  ) throws(QueryTextError) -> Operand {
    var values: [Value] = []
    var texts: [String] = []
    for element in elements {
      switch try fit(try bind(element), to: operand, element.range) {
      case .value(.string(let text)): texts.append(text)
      case .value(let value): values.append(value)
      case .unordered: values.append(.real(.nan))
      // Equal to no value.
      case .between, .tooSmall, .tooGreat: break
      }
    }
    let node: Node =
      operand.type == .string
      ? operand.node.membership(texts, negated: isNegated)
      : .membership(operand.node, values, operand.type, negated: isNegated)
    return Operand(node, .bool)
  }

  private func compareElement(
    _ member: NamedMember, with syntax: ExpressionSyntax, _ range: Range<Int>
  ) throws(QueryTextError) -> Node {
    guard case .value(let element) = bound(member) else {
      throw error("the elements of this vector have fields", range, hint: "use 'any { $0.… }'")
    }
    switch try bind(syntax) {
    case .value(let operand): return try compare(element, .equal, operand, syntax.range)
    case let constant: return try compare(element, .equal, constant, syntax)
    }
  }

  /// `attachment is Photo`, `author is null`.
  func type(
    _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ isNegated: Bool
  ) throws(QueryTextError) -> Operand {
    let object = try bind(left)
    guard case .name(let name, let isQuoted) = right.kind else {
      throw error("the name of a member, or null, is expected behind 'is'", right.range)
    }
    if !isQuoted, ["null", "nil"].contains(name.lowercased()) {
      return try isNull(object, left.range, isNegated: isNegated)
    }
    guard case .union(let union) = object else {
      if case .name(let first) = object { throw unknown(first, left.range) }
      throw error("only a union 'is' something", left.range, hint: "use '=' for values")
    }
    let node = try match([right], of: union)
    return Operand(isNegated ? .negation(node) : node, .bool)
  }

  func match(
    _ members: [ExpressionSyntax], of union: UnionScope
  ) throws(QueryTextError) -> Node {
    var tags: [Value] = []
    for member in members {
      guard case .name(let name, _) = member.kind else {
        throw error("the name of a member is expected here", member.range)
      }
      if case .value(let tag) = try fit(.name(name), to: tag(of: union), member.range) {
        tags.append(tag)
      }
    }
    return .match(union.tag, tags)
  }

  // MARK: Calls

  func textTest(
    _ bound: Bound, _ range: Range<Int>, _ argument: ExpressionSyntax,
    _ test: (String) -> TextTest
  ) throws(QueryTextError) -> Node {
    guard case .value(let operand) = bound, operand.type == .string else {
      if case .name(let name) = bound { throw unknown(name, range) }
      throw error("this is no text", range)
    }
    guard case .text(let text) = argument.kind else {
      throw error("a text in quotation marks is expected here", argument.range)
    }
    return operand.node.tested(test(text))
  }

  func like(
    _ bound: Bound, _ range: Range<Int>, _ pattern: ExpressionSyntax, _ escape: ExpressionSyntax?
  ) throws(QueryTextError) -> Node {
    var scalar: Unicode.Scalar?
    if let escape {
      guard case .text(let text) = escape.kind, text.unicodeScalars.count == 1 else {
        throw error("the escape is one character in quotation marks", escape.range)
      }
      scalar = text.unicodeScalars.first
    }
    return try textTest(bound, range, pattern) { .like(LikePattern($0, escape: scalar)) }
  }

  func call(
    _ name: String, on object: Bound, _ objectRange: Range<Int>,
    _ arguments: [ExpressionSyntax], _ nameRange: Range<Int>, _ range: Range<Int>
  ) throws(QueryTextError) -> Operand {
    func only() throws(QueryTextError) -> ExpressionSyntax {
      if arguments.count == 1 { return arguments[0] }
      throw error("'\(name)' has one argument", range)
    }
    func list() throws(QueryTextError) -> [ExpressionSyntax] {
      if arguments.count == 1, case .list(let elements) = arguments[0].kind { return elements }
      return arguments
    }
    switch (object, name) {
    case (.value(let operand), "in"): return try membership(operand, try list(), false)
    case (.value(let operand), "notIn"): return try membership(operand, try list(), true)
    case (.union(let union), "in"), (.union(let union), "notIn"):
      return try membership(tag(of: union), try list(), name == "notIn")
    case (.union(let union), "match"): return Operand(try match(arguments, of: union), .bool)
    case (.vector(let vector), "contains"):
      let (variable, member) = vector.element()
      let node = try compareElement(member, with: try only(), objectRange)
      return Operand(.quantified(.any, variable, node), .bool)
    case (.value(let operand), "contains") where operand.isFlags,
      (.value(let operand), "intersects") where operand.isFlags:
      let argument = try only()
      guard case .value(let mask) = try fit(try bind(argument), to: operand, argument.range)
      else { break }
      return Operand(
        .bits(operand.node, name == "contains" ? .contains : .intersects, mask, operand.type),
        .bool)
    case (_, "hasPrefix"):
      return Operand(try textTest(object, objectRange, try only()) { .prefix($0) }, .bool)
    case (_, "hasSuffix"):
      return Operand(try textTest(object, objectRange, try only()) { .suffix($0) }, .bool)
    case (_, "contains"):
      return Operand(try textTest(object, objectRange, try only()) { .part($0) }, .bool)
    case (_, "like") where arguments.count == 2:
      return Operand(try like(object, objectRange, arguments[0], arguments[1]), .bool)
    case (_, "like"): return Operand(try like(object, objectRange, try only(), nil), .bool)
    case (.value(let operand), "search"):
      guard case .field(let field) = operand.node, operand.type == .string else { break }
      return try search(try only(), in: field)
    case (.name(let first), _): throw unknown(first, objectRange)
    default: break
    }
    throw error(
      "'\(name)' has no meaning here", nameRange,
      hint: suggestion(
        for: name,
        among: [
          "in", "notIn", "match", "as", "contains", "intersects", "hasPrefix", "hasSuffix", "like",
          "search",
        ]))
  }

  /// `abs(likes)`, `search('hello world')`.
  func function(
    _ name: String, _ arguments: [ExpressionSyntax], _ nameRange: Range<Int>, _ range: Range<Int>
  ) throws(QueryTextError) -> Operand {
    guard arguments.count == 1, let argument = arguments.first else {
      throw error("'\(name)' has one argument", range)
    }
    switch name {
    case "abs":
      let operand = try operand(argument)
      guard operand.isNumber else {
        throw error("\(operand.described) has no magnitude", argument.range)
      }
      return Operand(.unary(.magnitude, operand.node, operand.type), operand.type)
    case "search":
      guard schema.fullText != nil else {
        throw error(
          "\(schema.layout.name) has no fields for search", nameRange,
          hint: "search one field, as in title.search('hello')")
      }
      return try search(argument, in: nil)
    default:
      throw error(
        "there is no function '\(name)'", nameRange,
        hint: suggestion(for: name, among: ["abs", "search"]) ?? "there are abs and search")
    }
  }

  private func search(
    _ argument: ExpressionSyntax, in field: FieldDescriptor?
  ) throws(QueryTextError) -> Operand {
    guard case .text(let words) = argument.kind else {
      throw error("the words stand in quotation marks", argument.range)
    }
    do throws(SearchSyntaxError) {
      return Operand(.search(try SearchCondition.words(words, in: field, of: schema)), .bool)
    } catch {
      throw self.error("\(error)", argument.range)
    }
  }
}

extension QueryBinder.Operand {
  /// Whether it is a field of flags.
  var isFlags: Bool {
    if case .enumeration(let layout, _)? = kind { layout().isBitFlags } else { false }
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
