// QueryBinder: gives the names of a query their meaning, and makes the nodes that typed conditions
// are made of.
//
//  - A constant takes the type of what it is compared with. One that does not fit is ordered
//    relative to all values that do, as in typed conditions.
//  - A word that is no field is the name of an enum's value, or of a union's member, if what it is
//    compared with has one.

import Dflat

/// Binds expressions to the fields of a type.
struct QueryBinder {
  /// What a part of an expression is.
  enum Bound {
    case value(Operand)
    case object(FieldScope)
    case union(UnionScope)
    case vector(VectorScope)
    case number(QueryNumber)
    case text(String)
    case truth(Bool)
    case null
    /// The name of a value, perhaps: see `QueryBinder`.
    case name(String)
    case list([ExpressionSyntax])
  }

  /// An expression with a value.
  struct Operand {
    var node: Node
    var type: ValueType
    /// The kind of a field; nil for what is computed.
    var kind: Property.Kind?
    /// The union whose tag it is.
    var union: UnionScope?
    /// The fields of the object that it refers to.
    var target: FieldScope?

    init(_ node: Node, _ type: ValueType) {
      self.node = node
      self.type = type
    }
  }

  let text: String
  let schema: EntitySchema
  let root: FieldScope
  /// The elements that the place is about, from the outermost inwards.
  private var variables: [NamedMember] = []

  init(_ text: String, _ schema: EntitySchema) {
    self.text = text
    self.schema = schema
    root = FieldScope(schema)
  }

  func error(
    _ message: String, _ range: Range<Int>, hint: String? = nil
  ) -> QueryTextError {
    QueryTextError(message: message, hint: hint, text: text, range: range)
  }

  // MARK: Conditions

  /// The node of a condition.
  func condition(_ syntax: ExpressionSyntax) throws(QueryTextError) -> Node {
    try truth(syntax).limited
  }

  /// The node of an expression with a value.
  func operand(_ syntax: ExpressionSyntax) throws(QueryTextError) -> Operand {
    switch try bind(syntax) {
    case .value(let operand): return operand
    case .union(let union): return tag(of: union)
    case .truth(let value): return Operand(.constant(.bool(value), .bool), .bool)
    case .name(let name): throw unknown(name, syntax.range)
    case .object(let scope):
      throw error(
        "a table has no value", syntax.range,
        hint: scope.properties.first.map { "name a field of it, as in '.\($0.name)'" })
    case .vector: throw error("a vector has no value", syntax.range, hint: "'.count' has")
    case .number, .text, .null, .list:
      throw error("a field is expected here", syntax.range)
    }
  }

  private func truth(_ syntax: ExpressionSyntax) throws(QueryTextError) -> Node {
    switch syntax.kind {
    case .not(let inner): return .negation(try truth(inner))
    case .connective(let isAnd, let parts):
      var result = try truth(parts[0])
      for part in parts.dropFirst() {
        let next = try truth(part)
        result = isAnd ? .conjunction(result, next) : .disjunction(result, next)
      }
      return result
    default: break
    }
    let operand = try operand(syntax)
    guard operand.type == .bool else {
      throw error(
        "this is \(operand.described), and no condition", syntax.range,
        hint: "compare it with something")
    }
    return operand.node
  }

  // MARK: Expressions

  func bind(_ syntax: ExpressionSyntax) throws(QueryTextError) -> Bound {
    switch syntax.kind {
    case .number(let text): return .number(QueryNumber(text))
    case .text(let text): return .text(text)
    case .list(let elements): return .list(elements)
    case .name(let name, let isQuoted): return try bindName(name, isQuoted, syntax.range)
    case .variable(let number):
      guard variables.indices.contains(number) else {
        throw error(
          "there is no element $\(number) here", syntax.range,
          hint: variables.isEmpty
            ? "$0 is the element in 'tags.any { $0 == 'a' }'"
            : "the innermost is "
              + "$\(variables.count - 1)")
      }
      return bound(variables[number])
    case .member(let object, let name, let range):
      return try member(name, of: try bind(object), object.range, range)
    case .call(let object?, "as", let arguments, let range):
      // `attachment.as(Photo).width`.
      let union = try bind(object)
      guard case .union = union, arguments.count == 1, case .name(let name, _) = arguments[0].kind
      else { throw error("'as' has the name of a union's member", range) }
      return try member(name, of: union, object.range, arguments[0].range)
    case .call(let object?, let name, let arguments, let range):
      return .value(
        try call(name, on: try bind(object), object.range, arguments, range, syntax.range))
    case .call(nil, let name, let arguments, let range):
      return .value(try function(name, arguments, range, syntax.range))
    case .quantified(let vector, let isAll, let inner):
      return .value(try quantified(vector, isAll, inner))
    case .negative(let operand): return try negative(operand)
    case .not, .connective: return .value(Operand(try truth(syntax), .bool))
    case .binary(let sign, let left, let right):
      return .value(try binary(sign, left, right, syntax.range))
    case .type(let left, let right, let isNegated):
      return .value(try type(left, right, isNegated))
    case .membership(let left, let right, let isNegated):
      return .value(try membership(left, right, isNegated))
    case .between(let value, let low, let high, let isNegated):
      let node = try between(value, low, high, syntax.range)
      return .value(Operand(isNegated ? .negation(node) : node, .bool))
    case .like(let left, let pattern, let escape, let isNegated):
      let node = try like(try bind(left), left.range, pattern, escape)
      return .value(Operand(isNegated ? .negation(node) : node, .bool))
    }
  }

  private func bindName(
    _ name: String, _ isQuoted: Bool, _ range: Range<Int>
  ) throws(QueryTextError) -> Bound {
    if let member = root.member(name) { return bound(member) }
    if isQuoted { throw unknown(name, range) }
    switch name.lowercased() {
    case "true": return .truth(true)
    case "false": return .truth(false)
    case "null", "nil": return .null
    case "nan", "inf", "infinity": return .number(QueryNumber(name))
    default: return .name(name)
    }
  }

  func bound(_ member: NamedMember) -> Bound {
    switch member {
    case .value(let field, let kind, let target):
      var operand = Operand(.field(field), field.type)
      operand.kind = kind
      operand.target = target
      return .value(operand)
    case .object(let scope): return .object(scope)
    case .union(let scope): return .union(scope)
    case .vector(let scope): return .vector(scope)
    }
  }

  func tag(of union: UnionScope) -> Operand {
    let field = union.tag
    var operand = Operand(.field(field), field.type)
    operand.union = union
    return operand
  }

  func unknown(
    _ name: String, _ range: Range<Int>, among names: [String]? = nil, in owner: String? = nil
  ) -> QueryTextError {
    let known = names ?? root.properties.map(\.name)
    return error(
      "no field '\(name)' in \(owner ?? schema.layout.name)", range,
      hint: suggestion(for: name, among: known)
        ?? (known.count <= 12 && !known.isEmpty
          ? "there are \(known.joined(separator: ", "))" : nil))
  }

  private func member(
    _ name: String, of object: Bound, _ objectRange: Range<Int>, _ range: Range<Int>
  ) throws(QueryTextError) -> Bound {
    switch (object, name) {
    case (_, "isNull"): return .value(try isNull(object, objectRange, isNegated: false))
    case (_, "isNotNull"): return .value(try isNull(object, objectRange, isNegated: true))
    case (.union(let union), "_type"): return .value(tag(of: union))
    case (.vector(let vector), "count"):
      let count = vector.count
      return .value(Operand(.field(count), count.type))
    case (.vector, _):
      throw error(
        "a vector has no field '\(name)'", range,
        hint: "it has 'count', 'contains(…)', 'any { $0 … }' and 'all { $0 … }'")
    case (.object(let scope), _):
      if let member = scope.member(name) { return bound(member) }
      throw unknown(name, range, among: scope.properties.map(\.name), in: "it")
    case (.union(let union), _):
      // `attachment.Photo.width`, beside `attachment.as(Photo).width`.
      if let member = union.member(name) { return bound(member) }
      throw error(
        "no member '\(name)' in this union", range,
        hint: suggestion(for: name, among: union.members.map(\.name))
          ?? "there are \(union.members.map(\.name).joined(separator: ", "))")
    case (.value(let operand), "related") where operand.target != nil:
      if let target = operand.target { return .object(target) }
    case (.value(let operand), "caseInsensitive") where operand.type == .string:
      return .value(Operand(operand.node.foldedOnce, .string))
    case (.value(let operand), _):
      if let target = operand.target {
        if let member = target.member(name) { return bound(member) }
        throw unknown(name, range, among: target.properties.map(\.name), in: "what it refers to")
      }
      throw error("\(operand.described) has no field '\(name)'", range)
    case (.name(let first), _): throw unknown(first, objectRange)
    default: break
    }
    throw error("this has no field '\(name)'", range)
  }

  func isNull(
    _ object: Bound, _ range: Range<Int>, isNegated: Bool
  ) throws(QueryTextError) -> Operand {
    let node: Node
    switch object {
    case .value(let operand): node = .isNull(operand.node, operand.type, negated: isNegated)
    case .object(let scope): node = .isNull(scope.presence, .bool, negated: isNegated)
    case .union(let union):
      node = .isNull(.field(union.tag), union.tag.type, negated: isNegated)
    case .name(let name): throw unknown(name, range)
    case .vector: throw error("a vector is never null", range, hint: "its 'count' may be 0")
    default: throw error("a field is expected here", range)
    }
    return Operand(node, .bool)
  }

  private func negative(_ syntax: ExpressionSyntax) throws(QueryTextError) -> Bound {
    switch try bind(syntax) {
    case .number(let number): return .number(number.negated)
    default:
      let operand = try operand(syntax)
      guard operand.isNumber else {
        throw error("\(operand.described) has no negative", syntax.range)
      }
      return .value(Operand(.unary(.negate, operand.node, operand.type), operand.type))
    }
  }

  private func quantified(
    _ syntax: ExpressionSyntax, _ isAll: Bool, _ condition: ExpressionSyntax
  ) throws(QueryTextError) -> Operand {
    guard case .vector(let vector) = try bind(syntax) else {
      throw error("only vectors have elements", syntax.range)
    }
    let (variable, member) = vector.element()
    var inner = self
    inner.variables.append(member)
    let node = try inner.truth(condition)
    return Operand(.quantified(isAll ? .all : .any, variable, node), .bool)
  }
}

extension QueryBinder.Operand {
  /// Whether it has arithmetic.
  var isNumber: Bool {
    if case .enumeration? = kind { return false }
    return type != .string && type != .bool
  }

  /// What it is, for messages.
  var described: String {
    if case .enumeration(let layout, _)? = kind { return "a value of \(layout().name)" }
    if union != nil { return "a union" }
    return switch type {
    case .bool: "a Boolean"
    case .string: "a text"
    case .float, .double: "a number"
    default: "a whole number"
    }
  }
}
