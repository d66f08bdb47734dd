// Enums and unions.
//
// An enum's values are distinct 64-bit patterns within the underlying type's range; bit flags are
// already shifted. A union's tags are distinct and within 1...255; 0 is NONE, which is never
// declared.

extension Resolver {
  // MARK: Enums

  func defineEnum(_ syntax: EnumSyntax, _ context: Context) {
    let name = QualifiedName(namespace: context.namespace, name: syntax.name.text)
    let attributes = attributes(syntax.attributes, on: .enumeration)
    var definition = EnumDefinition(
      name: name, underlying: underlyingType(of: syntax, context),
      isBitFlags: attributes["bit_flags"] != nil, position: syntax.name.range.position)
    definition.attributes = attributes.model
    definition.chosenName = swiftName(attributes)
    definition.documentation = syntax.documentation
    let errorsBefore = sink.errorCount
    if definition.isBitFlags, !definition.underlying.isUnsigned {
      sink.warning(
        "bit flags should be unsigned; '\(definition.underlying.rawValue)' has a sign",
        at: syntax.underlying?.range ?? syntax.name.range)
    }
    defineValues(of: syntax, into: &definition)
    if definition.values.isEmpty, !hasBrokenText, sink.errorCount == errorsBefore {
      sink.error(
        "the enum '\(name)' has no values", at: syntax.name.range,
        notes: [.hint("an enum becomes a Swift enum with raw values, which needs one")])
    }
    if syntax.isBroken || sink.errorCount > errorsBefore { broken.insert(name) }
    schema.types[name] = .enumeration(definition)
  }

  /// The underlying type: an integer type, or the integer type of an enum declared above.
  private func underlyingType(of syntax: EnumSyntax, _ context: Context) -> ScalarType {
    guard let type = syntax.underlying else { return .int }
    if case .named(let path) = type {
      if path.parts.count == 1, let scalar = ScalarType(schemaName: path.text) {
        if scalar.integerRange != nil, scalar != .bool { return scalar }
      } else if let symbol = symbols.enumeration(
        path.parts, in: context.namespace, at: context.order),
        case .enumeration(let other) = schema.types[symbol.name]
      {
        return other.underlying
      }
    }
    sink.error(
      "the type under an enum must be an integer type, from 'byte' to 'ulong'", at: type.range)
    return .long
  }

  private func defineValues(of syntax: EnumSyntax, into definition: inout EnumDefinition) {
    let underlying = definition.underlying
    /// The number as written; for bit flags the bit's position.
    var number: Int64?
    var names: [String: SourceRange] = [:]
    var owners: [Int64: (String, SourceRange)] = [:]
    for value in syntax.values {
      if let other = names.updateValue(value.name.range, forKey: value.name.text) {
        sink.error(
          "there is a value '\(value.name.text)' already", at: value.name.range,
          notes: [other.note("declared here")])
        continue
      }
      let range = value.value?.range ?? value.name.range
      if let literal = value.value {
        number = explicitNumber(literal, of: underlying)
        if number == nil { continue }
      } else if let last = number {
        number = successor(of: last, in: underlying)
        if number == nil {
          sink.error(
            "'\(value.name.text)' is one more than '\(underlying.rawValue)' can hold",
            at: range)
          continue
        }
      } else if definition.values.isEmpty {
        number = 0
      } else {
        // The previous value has no number because of an error.
        continue
      }
      guard let number, let pattern = pattern(of: number, definition, at: range) else { continue }
      if let (other, otherRange) = owners[pattern] {
        sink.error(
          "'\(value.name.text)' has the same value as '\(other)'", at: range,
          notes: [otherRange.note("'\(other)' is declared here")])
        continue
      }
      owners[pattern] = (value.name.text, value.name.range)
      var entry = EnumDefinition.Value(
        name: value.name.text, value: pattern, position: value.name.range.position)
      entry.documentation = value.documentation
      definition.values.append(entry)
    }
  }

  private func explicitNumber(_ literal: ValueSyntax, of type: ScalarType) -> Int64? {
    if case .broken = literal.kind { return nil }
    guard case .integer = literal.kind else {
      sink.error("expected an integer, found \(literal.described)", at: literal.range)
      return nil
    }
    if let number = IntegerLiteral(literal.text)?.pattern(for: type) { return number }
    sink.error(
      "\(literal.text) is out of range: '\(type.rawValue)' holds "
        + (type.integerRange?.described ?? ""), at: literal.range)
    return nil
  }

  /// The next number, if the type can hold it.
  private func successor(of number: Int64, in type: ScalarType) -> Int64? {
    switch type.integerRange {
    case .signed(let range): number < range.upperBound ? number + 1 : nil
    case .unsigned(let largest): UInt64(bitPattern: number) < largest ? number &+ 1 : nil
    case nil: nil
    }
  }

  /// The stored value for a number: the number itself, or the bit at that position.
  private func pattern(
    of number: Int64, _ definition: EnumDefinition, at range: SourceRange
  ) -> Int64? {
    guard definition.isBitFlags else { return number }
    let type = definition.underlying
    let bits = Int64(type.size * 8) - (type.isUnsigned ? 0 : 1)
    if (0..<bits).contains(number) { return Int64(truncatingIfNeeded: UInt64(1) << number) }
    let isSignBit = number == bits && !type.isUnsigned
    sink.error(
      isSignBit
        ? "bit \(number) of '\(type.rawValue)' is its sign; use an unsigned type"
        : "a bit flag's value is a bit position, for '\(type.rawValue)' from 0 to \(bits - 1)",
      at: range)
    return nil
  }

  // MARK: Unions

  func defineUnion(_ syntax: UnionSyntax, _ context: Context) {
    let name = QualifiedName(namespace: context.namespace, name: syntax.name.text)
    var definition = UnionDefinition(name: name, position: syntax.name.range.position)
    let attributes = attributes(syntax.attributes, on: .union)
    definition.attributes = attributes.model
    definition.chosenName = swiftName(attributes)
    definition.documentation = syntax.documentation
    var names: [String: SourceRange] = [:]
    var owners: [Int64: (String, SourceRange)] = [0: ("NONE", syntax.name.range)]
    var tag: Int64? = 0
    for member in syntax.members {
      guard let (memberName, ownName, range) = memberName(member) else { continue }
      if memberName == "NONE" {
        sink.error(
          "'NONE' cannot be a member: every union has it, as tag 0", at: range)
        continue
      }
      if let other = names.updateValue(range, forKey: memberName) {
        sink.error(
          "there is a member '\(memberName)' already", at: range,
          notes: [
            other.note("declared here"),
            .hint("give one of them an alias: 'Other: \(memberName)'"),
          ])
        continue
      }
      tag = nextTag(after: tag, member, range)
      let type = memberType(member, context)
      guard let tag, let type else { continue }
      if let (other, otherRange) = owners[tag] {
        sink.error(
          "'\(memberName)' has the same tag as '\(other)', \(tag)",
          at: member.value?.range ?? range, notes: [otherRange.note("'\(other)' is here")])
        continue
      }
      owners[tag] = (memberName, range)
      memberTags[name, default: []].append((memberName, tag))
      var entry = UnionDefinition.Member(
        name: ownName, type: type, tag: Int(tag), position: range.position)
      entry.documentation = member.documentation
      definition.members.append(entry)
    }
    schema.types[name] = .union(definition)
  }

  /// The name that must be unique, `N_A` for `N.A`, and the member's own name, `A`. An alias serves
  /// as both.
  private func memberName(_ member: UnionSyntax.Member) -> (String, String, SourceRange)? {
    if let alias = member.alias { return (alias.text, alias.text, alias.range) }
    guard case .named(let path) = member.type, let last = path.parts.last else { return nil }
    return (path.parts.joined(separator: "_"), last, path.range)
  }

  private func nextTag(
    after last: Int64?, _ member: UnionSyntax.Member, _ range: SourceRange
  ) -> Int64? {
    if let literal = member.value { return explicitNumber(literal, of: .ubyte) }
    guard let last else { return nil }
    if last < 255 { return last + 1 }
    sink.error("a union's tags end at 255; there is none left for this member", at: range)
    return nil
  }

  private func memberType(_ member: UnionSyntax.Member, _ context: Context) -> FieldType? {
    guard case .named(let path) = member.type else {
      sink.error(
        "a union's member is a table, a struct or a string, no vector", at: member.type.range,
        notes: [.hint("wrap the vector in a table")])
      return nil
    }
    if member.alias != nil, let builtIn = builtInType(path) {
      guard case .scalar = builtIn.type else { return builtIn.type }
      return wrongMember(path, "a scalar")
    }
    if let symbol = record(named: path.parts, context) {
      return symbol.fieldType
    }
    if let symbol = type(named: path.parts, context) {
      return wrongMember(path, symbol.described)
    }
    switch path.parts.count == 1 ? builtInType(path)?.type : nil {
    case .scalar: return wrongMember(path, "a scalar")
    case .string:
      sink.error(
        "a string needs an alias to be a union's member", at: path.range,
        notes: [.hint("for example 'text: string'")])
    default: unknownType(path, context)
    }
    return nil
  }

  private func wrongMember(_ path: PathSyntax, _ what: String) -> FieldType? {
    sink.error(
      "a union's member is a table, a struct or a string; '\(path.text)' is \(what)",
      at: path.range, notes: [.hint("wrap it in a table")])
    return nil
  }
}
