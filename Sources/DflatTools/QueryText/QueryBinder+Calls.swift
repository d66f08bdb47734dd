// Memberships, tests of unions and texts, calls and searches.

import Dflat

extension QueryBinder {
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
