// Defaults: converts a written default to a literal of the field's type.
//
// A default is a number, a word, a string that contains a number or names, or a function of a
// number. It is resolved with the field's type at hand, so that the model needs no further checks.

extension Resolver {
  /// Resolves the default of a field, written or implied.
  func checkDefault(of draft: inout FieldDraft, inStruct: Bool, _ context: Context) {
    let type = draft.definition.type
    guard let value = draft.syntax.defaultValue else {
      draft.definition.defaultValue = impliedDefault(of: type, draft.syntax)
      if inStruct { draft.definition.defaultValue = nil }
      return
    }
    if case .broken = value.kind { return }
    let result: DefaultValue?
    switch type {
    case .scalar(let scalar):
      result = scalarDefault(value, scalar, context)
    case .enumeration(let name):
      result = enumDefault(value, name, draft.syntax)
    case .string:
      result = stringDefault(value)
    case .vector:
      if case .emptyVector = value.kind { return }
      sink.error("the default of a vector can only be '[]'", at: value.range)
      return
    case .structure, .table, .union, .array:
      sink.error("\(type.described) has no default", at: value.range)
      return
    }
    draft.definition.defaultValue = result
    guard inStruct else { return }
    draft.definition.defaultValue = nil
    if let result, !isZero(result, value) {
      sink.error(
        "a struct's field has no default: it always holds a value", at: value.range)
    }
  }

  /// The default of a field without a written one.
  private func impliedDefault(of type: FieldType, _ field: FieldSyntax) -> DefaultValue? {
    switch type {
    case .scalar(.bool):
      return .bool(false)
    case .scalar(let scalar):
      return scalar.integerRange == nil ? .real(0) : number(0, of: scalar)
    case .enumeration(let name):
      guard case .enumeration(let definition) = schema.types[name] else { return nil }
      return number(definition.impliedDefault, of: definition.underlying)
    default:
      return nil
    }
  }

  /// A default in a struct is accepted if it changes nothing.
  private func isZero(_ value: DefaultValue, _ syntax: ValueSyntax) -> Bool {
    switch value {
    case .bool(let value): !value
    case .integer(let value): value == 0
    case .unsigned(let value): value == 0
    case .real: syntax.text == "0"
    case .null, .string: false
    }
  }

  /// A 64-bit pattern as a default of an integer type.
  private func number(_ pattern: Int64, of type: ScalarType) -> DefaultValue {
    type.isUnsigned ? .unsigned(UInt64(bitPattern: pattern)) : .integer(pattern)
  }

  // MARK: Strings

  private func stringDefault(_ value: ValueSyntax) -> DefaultValue? {
    if case .string = value.kind { return .string(value.text) }
    sink.error(
      "expected a string in quotes, found \(value.described)", at: value.range,
      notes: value.meansAbsence || value.text == "null"
        ? [.hint("a string without a default is optional already")] : [])
    return nil
  }

  // MARK: Scalars

  private func scalarDefault(
    _ value: ValueSyntax, _ type: ScalarType, _ context: Context
  ) -> DefaultValue? {
    if isNull(value) { return .null }
    if type.integerRange == nil { return realDefault(value, type) }
    if type == .bool, let truth = truth(value) { return .bool(truth) }
    guard let pattern = integerDefault(value, type, context) else { return nil }
    return type == .bool ? .bool(pattern != 0) : number(pattern, of: type)
  }

  private func isNull(_ value: ValueSyntax) -> Bool {
    switch value.kind {
    case .word, .string: value.text == "null"
    default: false
    }
  }

  private static let nullHint = Diagnostic.hint("a value that may be absent is written '= null'")

  private func truth(_ value: ValueSyntax) -> Bool? {
    switch value.kind {
    case .word, .string: value.text == "true" ? true : value.text == "false" ? false : nil
    default: nil
    }
  }

  private func integerDefault(
    _ value: ValueSyntax, _ type: ScalarType, _ context: Context
  ) -> Int64? {
    switch value.kind {
    case .integer:
      return integer(value.text, type, value)
    case .string where type != .bool && startsWithWord(value.text):
      return qualifiedFlags(value, type, context)
    case .string:
      return integer(trimmed(value.text), type, value)
    case .word:
      let hint =
        if value.meansAbsence {
          Self.nullHint
        } else if type == .bool {
          Diagnostic.hint("a bool is true, false or a number")
        } else {
          Diagnostic.hint(
            "an enum's value as a number is written in quotes with its enum: \"Color.Red\"")
        }
      sink.error("expected an integer, found \(value.described)", at: value.range, notes: [hint])
      return nil
    case .real, .call, .emptyVector, .broken:
      sink.error("expected an integer, found \(value.described)", at: value.range)
      return nil
    }
  }

  private func integer(_ text: String, _ type: ScalarType, _ value: ValueSyntax) -> Int64? {
    if let pattern = IntegerLiteral(text)?.pattern(for: type) { return pattern }
    let digits = text.drop { $0 == "-" || $0 == "+" }
    let isNumber =
      !digits.isEmpty
      && (digits.utf8.allSatisfy(isDigit) || digits.hasPrefix("0x") || digits.hasPrefix("0X"))
    sink.error(
      isNumber
        ? "\(text) is out of range: '\(type.rawValue)' holds \(type.integerRange?.described ?? "")"
        : "expected an integer, found \(value.described)", at: value.range)
    return nil
  }

  private func startsWithWord(_ text: String) -> Bool {
    text.utf8.first.map(isIdentifierStart) ?? false
  }

  /// `"Color.Red Color.Blue"` as a number.
  private func qualifiedFlags(
    _ value: ValueSyntax, _ type: ScalarType, _ context: Context
  ) -> Int64? {
    var pattern: Int64 = 0
    var isUnsigned = false
    for word in value.text.split(separator: " ", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        sink.error(
          "'\(word)' must be written with its enum, as in \"Color.Red\"", at: value.range)
        return nil
      }
      let symbol = symbols.enumeration([String(parts[0])], in: context.namespace, at: context.order)
      guard let symbol else {
        if !lacksNames {
          sink.error("there is no enum '\(parts[0])' above", at: value.range)
        }
        return nil
      }
      switch schema.types[symbol.name] {
      case .enumeration(let definition):
        guard let flag = flag(String(parts[1]), of: definition, value) else { return nil }
        isUnsigned = isUnsigned || definition.underlying.isUnsigned
        pattern |= flag
      case .union(let definition):
        guard let tag = tag(String(parts[1]), of: definition, value) else { return nil }
        pattern |= tag
      default:
        return nil
      }
    }
    let text = isUnsigned ? "\(UInt64(bitPattern: pattern))" : "\(pattern)"
    return integer(text, type, value)
  }

  private func flag(_ name: String, of definition: EnumDefinition, _ value: ValueSyntax) -> Int64? {
    if let entry = definition.values.first(where: { $0.name == name }) { return entry.value }
    guard !broken.contains(definition.name) else { return nil }
    sink.error(
      "'\(definition.name)' has no value '\(name)'", at: value.range,
      notes: [.hint(known(definition.values.map(\.name)))])
    return nil
  }

  private func tag(_ name: String, of definition: UnionDefinition, _ value: ValueSyntax) -> Int64? {
    if name == "NONE" { return 0 }
    let members = memberTags[definition.name] ?? []
    if let member = members.first(where: { $0.name == name }) { return member.tag }
    sink.error(
      "'\(definition.name)' has no member '\(name)'", at: value.range,
      notes: [.hint(known(members.map(\.name)))])
    return nil
  }

  private func known(_ names: [String]) -> String {
    let shown = names.prefix(10).joined(separator: ", ")
    return "known are: " + shown + (names.count > 10 ? ", …" : "")
  }

  // MARK: Enums

  private func enumDefault(
    _ value: ValueSyntax, _ name: QualifiedName, _ field: FieldSyntax
  ) -> DefaultValue? {
    guard case .enumeration(let definition) = schema.types[name] else { return nil }
    if isNull(value) {
      guard definition.values.contains(where: { $0.name == "null" }) else { return .null }
      sink.error(
        "'null' is ambiguous here: '\(name)' has a value of that name", at: value.range)
      return nil
    }
    if value.meansAbsence, !definition.values.contains(where: { $0.name == value.text }) {
      sink.error(
        "'\(name)' has no value '\(value.text)'", at: value.range, notes: [Self.nullHint])
      return nil
    }
    guard let pattern = enumPattern(value, definition) else { return nil }
    let isMember =
      definition.isBitFlags || broken.contains(name)
      || definition.values.contains { $0.value == pattern }
    if !isMember {
      sink.error(
        "\(value.described) is no value of '\(name)'", at: value.range,
        notes: [.hint(known(definition.values.map(\.name)))])
    }
    return number(pattern, of: definition.underlying)
  }

  private func enumPattern(_ value: ValueSyntax, _ definition: EnumDefinition) -> Int64? {
    switch value.kind {
    case .integer:
      return integer(value.text, definition.underlying, value)
    case .word:
      return flag(value.text, of: definition, value)
    case .string where startsWithWord(value.text):
      var pattern: Int64 = 0
      for word in value.text.split(separator: " ", omittingEmptySubsequences: false) {
        guard let flag = flag(String(word), of: definition, value) else { return nil }
        pattern |= flag
      }
      return pattern
    case .string:
      return integer(trimmed(value.text), definition.underlying, value)
    case .real, .call, .emptyVector, .broken:
      sink.error(
        "expected a value of '\(definition.name)', found \(value.described)", at: value.range,
        notes: [.hint(known(definition.values.map(\.name)))])
      return nil
    }
  }

  // MARK: Reals

  private func realDefault(_ value: ValueSyntax, _ type: ScalarType) -> DefaultValue? {
    guard let number = real(value, type) else { return nil }
    // What a float holds of it: that is what is stored and compared.
    return .real(type == .float ? Double(Float(number)) : number)
  }

  /// The number, of which a `float` has what is nearest to the literal: rounded to a `double` first
  /// it might be another one.
  private func real(_ value: ValueSyntax, _ type: ScalarType) -> Double? {
    if case .call(let argument) = value.kind {
      guard let function = Self.functions[value.text] else {
        sink.error(
          "unknown function '\(value.text)'", at: value.range,
          notes: [.hint(known(Self.functions.keys.sorted()))])
        return nil
      }
      return real(argument, .double).map(function)
    }
    let text = trimmedIfString(value)
    let number =
      type == .float
      ? realValue(text, as: Float.self).map(Double.init) : realValue(text, as: Double.self)
    if let number { return number }
    let isHexadecimal = value.text.lowercased().contains("0x")
    sink.error(
      "expected a number, found \(value.described)", at: value.range,
      notes: value.meansAbsence
        ? [Self.nullHint]
        : isHexadecimal
          ? [.hint("a hexadecimal number with a point has an exponent: 0x1p3")] : [])
    return nil
  }

  private func trimmedIfString(_ value: ValueSyntax) -> String {
    if case .string = value.kind { return trimmed(value.text) }
    return value.text
  }
}

extension ValueSyntax {
  /// Whether it is another language's word for `null`.
  fileprivate var meansAbsence: Bool {
    guard case .word = kind else { return false }
    return text != "null" && ["nil", "none", "null", "undefined"].contains(text.lowercased())
  }
}
