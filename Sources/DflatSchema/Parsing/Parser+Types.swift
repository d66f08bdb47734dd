// Parses the bodies of declarations.

extension Parser {
  // MARK: Tables and structs

  mutating func parseRecord(isStruct: Bool, _ documentation: [String]) throws(SyntaxError) {
    let name = try expectName(isStruct ? "the name of a struct" : "the name of a table")
    var record = RecordSyntax(
      name: name, isStruct: isStruct, attributes: [], fields: [], documentation: documentation,
      isBroken: false)
    defer { append(.record(record)) }
    record.attributes = try parseAttributes()
    try expect("{", "to begin the fields of '\(name.text)'")
    while bodyContinues(of: name) {
      do throws(SyntaxError) {
        try parseField(into: &record)
      } catch {
        record.isBroken = true
        skipInBody(separator: ";")
      }
    }
  }

  private mutating func parseField(into record: inout RecordSyntax) throws(SyntaxError) {
    let documentation = current.documentation
    let name = try expectName("the name of a field or '}'")
    try expect(":", "and a type after the field's name '\(name.text)'")
    var field = FieldSyntax(
      name: name, type: try parseType(), attributes: [], documentation: documentation)
    // The rest may be malformed; the field exists nevertheless.
    defer { record.fields.append(field) }
    if take("=") { field.defaultValue = try parseValue("a default value") }
    field.attributes = try parseAttributes()
    try expectSemicolon("after the field '\(name.text)'")
  }

  // MARK: Enums

  mutating func parseEnum(_ documentation: [String]) throws(SyntaxError) {
    let name = try expectName("the name of an enum")
    var declaration = EnumSyntax(
      name: name, underlying: nil, attributes: [], values: [], documentation: documentation,
      isBroken: true)
    defer { append(.enumeration(declaration)) }
    guard take(":") else {
      sink.error(
        "expected ':' and an integer type after 'enum \(name.text)'", at: name.range,
        notes: [.hint("for example 'enum \(name.text): byte'")])
      throw SyntaxError()
    }
    declaration.underlying = try parseType()
    declaration.attributes = try parseAttributes()
    try expect("{", "to begin the values of '\(name.text)'")
    var isBroken = false
    while bodyContinues(of: name) {
      do throws(SyntaxError) {
        let documentation = current.documentation
        let value = try expectName("the name of a value or '}'")
        var literal: ValueSyntax?
        defer {
          declaration.values.append(
            EnumSyntax.Value(name: value, value: literal, documentation: documentation))
        }
        if take("=") { literal = try parseValue("an integer") }
        try refuseAttributes(
          of: "value", hint: "rename the value: its name is stored nowhere, its number is")
        try expectSeparator()
      } catch {
        isBroken = true
        skipInBody(separator: ",")
      }
    }
    declaration.isBroken = isBroken
  }

  /// FlatBuffers allows attributes on declarations and fields only.
  private mutating func refuseAttributes(of what: String, hint: String) throws(SyntaxError) {
    guard current.isPunctuation("(") else { return }
    let range = current.range
    _ = try parseAttributes()
    sink.error("a \(what) cannot have attributes", at: range, notes: [.hint(hint)])
  }

  /// Values and members are separated by commas; a trailing comma is allowed.
  private mutating func expectSeparator() throws(SyntaxError) {
    guard !current.isPunctuation("}"), current.kind != .end else { return }
    try expect(",", "or '}'")
  }

  // MARK: Unions

  mutating func parseUnion(_ documentation: [String]) throws(SyntaxError) {
    let name = try expectName("the name of a union")
    var declaration = UnionSyntax(
      name: name, attributes: [], members: [], documentation: documentation, isBroken: true)
    defer { append(.union(declaration)) }
    declaration.attributes = try parseAttributes()
    try expect("{", "to begin the members of '\(name.text)'")
    var isBroken = false
    while bodyContinues(of: name) {
      do throws(SyntaxError) {
        declaration.members.append(try parseMember())
        try refuseAttributes(of: "member", hint: "an alias gives it another name: 'Other: Member'")
        try expectSeparator()
      } catch {
        isBroken = true
        skipInBody(separator: ",")
      }
    }
    declaration.isBroken = isBroken
  }

  private mutating func parseMember() throws(SyntaxError) -> UnionSyntax.Member {
    let documentation = current.documentation
    var alias: NameSyntax?
    let type: TypeSyntax
    if current.kind == .identifier, next.isPunctuation(":") {
      alias = try expectName("an alias")
      advance()
      type = try parseType()
    } else {
      type = .named(try parsePath("the name of a member or '}'"))
    }
    let value = take("=") ? try parseValue("an integer") : nil
    return UnionSyntax.Member(alias: alias, type: type, value: value, documentation: documentation)
  }

  // MARK: Services

  mutating func parseService() throws(SyntaxError) {
    let name = try expectName("the name of a service")
    var service = ServiceSyntax(name: name, attributes: try parseAttributes(), methods: [])
    defer { append(.service(service)) }
    try expect("{", "to begin the methods of '\(name.text)'")
    if current.isPunctuation("}") {
      sink.error("a service has at least one method", at: name.range)
    }
    while bodyContinues(of: name) {
      do throws(SyntaxError) {
        let method = try expectName("the name of a method or '}'")
        try expect("(", "and the request's table")
        let request = try parsePath("the request's table")
        try expect(")", "after the request's table")
        try expect(":", "and the response's table")
        let response = try parsePath("the response's table")
        service.methods.append(
          ServiceSyntax.Method(
            name: method, request: request, response: response, attributes: try parseAttributes()))
        try expectSemicolon("after the method '\(method.text)'")
      } catch {
        skipInBody(separator: ";")
      }
    }
  }

  // MARK: Types

  mutating func parsePath(_ what: String) throws(SyntaxError) -> PathSyntax {
    let first = try expectName(what)
    var path = PathSyntax(parts: [first.text], range: first.range)
    while take(".") {
      let part = try expectName("a name after '.'")
      path.parts.append(part.text)
      path.range = path.range.through(part.range)
    }
    return path
  }

  mutating func parseType() throws(SyntaxError) -> TypeSyntax {
    guard current.isPunctuation("[") else { return .named(try parsePath("a type")) }
    let open = current
    advance()
    if current.isPunctuation("[") {
      sink.error(
        "a vector of vectors is not possible", at: open.range,
        notes: [.hint("wrap the inner vector in a table")])
      throw SyntaxError()
    }
    let element = TypeSyntax.named(try parsePath("the type of the elements"))
    var count: Int?
    if take(":") { count = try parseCount() }
    guard current.isPunctuation("]") else {
      throw unexpected("expected ']' after the type of the elements")
    }
    let range = open.range.through(current.range)
    advance()
    guard let count else { return .vector(element, range) }
    return .array(element, count: count, range)
  }

  private mutating func parseCount() throws(SyntaxError) -> Int {
    guard current.kind == .integer else {
      throw unexpected("expected the array's length, an integer from 1 to 65535")
    }
    let token = current
    advance()
    guard let number = IntegerLiteral(token.text), (1...65535).contains(number) else {
      sink.error("an array's length is from 1 to 65535, not \(token.text)", at: token.range)
      return 1
    }
    return Int(number.magnitude)
  }

  // MARK: Attributes and values

  /// The list in parentheses; empty if there is none.
  mutating func parseAttributes() throws(SyntaxError) -> [AttributeSyntax] {
    guard take("(") else { return [] }
    var attributes: [AttributeSyntax] = []
    repeat {
      guard current.kind == .identifier || current.kind == .string else {
        throw unexpected("expected the name of an attribute")
      }
      let name = NameSyntax(text: current.text, range: current.range)
      advance()
      var value: ValueSyntax?
      if take(":") { value = try parseAttributeValue(of: name) }
      attributes.append(AttributeSyntax(name: name, value: value))
    } while take(",")
    try expect(")", "or ',' in the list of attributes")
    return attributes
  }

  private mutating func parseAttributeValue(of name: NameSyntax) throws(SyntaxError) -> ValueSyntax
  {
    let kind: ValueSyntax.Kind
    switch current.kind {
    case .integer: kind = .integer
    case .string: kind = .string
    default:
      throw unexpected("expected a string or an integer as the value of '\(name.text)'")
    }
    defer { advance() }
    return ValueSyntax(kind: kind, text: current.text, range: current.range)
  }

  mutating func parseValue(_ what: String) throws(SyntaxError) -> ValueSyntax {
    try parseValue(what, depth: 0)
  }

  private mutating func parseValue(_ what: String, depth: Int) throws(SyntaxError) -> ValueSyntax {
    let token = current
    let kind: ValueSyntax.Kind
    switch token.kind {
    case .integer: kind = .integer
    case .real: kind = .real
    case .string: kind = .string
    case .identifier, .signedWord:
      if token.touchesParenthesis { return try parseCall(depth: depth) }
      kind = .word
    case .punctuation(UInt8(ascii: "[")) where next.isPunctuation("]"):
      advance()
      let range = token.range.through(current.range)
      advance()
      return ValueSyntax(kind: .emptyVector, text: "[]", range: range)
    case .punctuation(UInt8(ascii: "[")):
      sink.error("the default of a vector can only be '[]'", at: token.range)
      throw SyntaxError()
    default:
      throw isAtLineStart
        ? unexpectedBehindPrevious("expected \(what)") : unexpected("expected \(what)")
    }
    advance()
    if token.kind == .identifier, current.isPunctuation("."), next.kind == .identifier {
      var value = next
      while current.isPunctuation("."), next.kind == .identifier {
        value = next
        advance()
        advance()
      }
      sink.error(
        "a value is not written with its enum here", at: token.range.through(value.range),
        notes: [
          .hint(
            "of an enum write '= \(value.text)', of an integer '= \"\(token.text).\(value.text)\"'")
        ])
      return ValueSyntax(kind: .broken, text: value.text, range: token.range)
    }
    return ValueSyntax(kind: kind, text: token.text, range: token.range)
  }

  /// `rad(180)`; calls may be nested.
  private mutating func parseCall(depth: Int) throws(SyntaxError) -> ValueSyntax {
    let name = current
    guard depth < 16 else {
      sink.error("functions are nested too deeply here", at: name.range)
      throw SyntaxError()
    }
    advance()
    advance()
    let argument = try parseValue("a number", depth: depth + 1)
    let end = current.range
    try expect(")", "after the argument of '\(name.text)'")
    return ValueSyntax(
      kind: .call(argument: argument), text: name.text, range: name.range.through(end))
  }
}
