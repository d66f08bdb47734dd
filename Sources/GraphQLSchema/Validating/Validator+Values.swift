// Rules about literals: that they have the expected type, and name input fields once (5.6).

import Diagnostics

extension Validator {
  /// Checks a literal and collects its variables.
  ///
  /// - Parameters:
  ///   - type: The expected type; nil if it is unknown.
  ///   - hasDefault: Whether what expects the value has a default.
  func checkValue(_ value: ValueSyntax, _ type: TypeReference?, hasDefault: Bool = false) {
    switch value.kind {
    case .variable(let name):
      uses.variables.append(
        VariableUse(name: name, range: value.range, type: type, hasDefault: hasDefault))
    case .null:
      if let type, type.isNonNull { reportType(of: value, type) }
    case .list(let elements):
      checkList(value, elements, type)
    case .object(let fields):
      checkObject(value, fields, type)
    case .integer, .float, .string, .boolean, .enumeration:
      if let type { checkLeaf(value, type) }
    }
  }

  private func checkList(_ value: ValueSyntax, _ elements: [ValueSyntax], _ type: TypeReference?) {
    var elementType = type?.nullable
    if let type {
      if let element = type.element {
        elementType = element
      } else if !isCustomScalar(type) {
        reportType(of: value, type)
      }
    }
    // What stands inside of a custom scalar is the scalar's own business.
    let isFree = type.map { $0.element == nil } ?? true
    for element in elements {
      if isFree, !element.isVariable {
        checkValue(element, nil)
      } else {
        checkValue(element, elementType)
      }
    }
  }

  private func checkObject(
    _ value: ValueSyntax, _ fields: [ArgumentSyntax], _ type: TypeReference?
  ) {
    let named = type.flatMap { schema.type(in: $0) }
    let object = named?.kind == .inputObject ? named : nil
    if let type, object == nil, !isCustomScalar(.named(type.name)) { reportType(of: value, type) }
    var first: [String: NameSyntax] = [:]
    for field in fields {
      let name = field.name
      if let earlier = first[name.text] {
        report(
          "UniqueInputFieldNames", "the field '\(name.text)' is given a second time",
          at: name.range, notes: [earlier.range.note("the first one is here")])
      } else {
        first[name.text] = name
      }
      let definition = object?.inputField(named: name.text)
      if let object, definition == nil {
        report(
          "ValuesOfCorrectType", "'\(object.name)' has no field '\(name.text)'", at: name.range,
          notes: suggestion(for: name.text, among: object.inputFields.map(\.name)))
      }
      var type = definition?.type
      if let expected = type, object?.isOneOf == true { type = .nonNull(expected.nullable) }
      checkValue(field.value, type, hasDefault: definition?.defaultValue != nil)
    }
    if let object, object.isOneOf, fields.count != 1 {
      report(
        "ValuesOfCorrectType",
        "a value of '\(object.name)' has exactly one field, and this one has \(fields.count)",
        at: value.range)
    }
    for definition in object?.inputFields ?? [] where definition.isRequired {
      guard first[definition.name] == nil, let object else { continue }
      report(
        "ValuesOfCorrectType",
        "'\(object.name)' needs the field '\(definition.name)' of type '\(definition.type)'",
        at: SourceRange(
          file: value.range.file, start: value.range.start, end: value.range.start + 1))
    }
  }

  /// A value that is neither list nor object may stand for a list of one element, at any depth.
  private func checkLeaf(_ value: ValueSyntax, _ type: TypeReference) {
    guard let named = schema.type(in: type) else { return }
    switch named.kind {
    case .enumeration:
      guard case .enumeration(let name) = value.kind else { return reportType(of: value, type) }
      guard named.value(named: name) == nil else { return }
      report(
        "ValuesOfCorrectType", "the enum '\(named.name)' has no value '\(name)'", at: value.range,
        notes: suggestion(for: name, among: named.values.map(\.name)))
    case .scalar:
      if let fault = fault(of: value, as: named) { reportType(of: value, type, fault) }
    case .inputObject, .object, .interface, .union:
      reportType(of: value, type)
    }
  }

  /// What is wrong with a literal of a built-in scalar; nil if nothing is.
  private func fault(of value: ValueSyntax, as scalar: NamedType) -> String? {
    guard scalar.isBuiltIn else { return nil }
    switch (scalar.name, value.kind) {
    case ("Int", .integer(let text)):
      return Int32(text) == nil ? "an Int has 32 bits" : nil
    case ("Float", .integer), ("Float", .float), ("ID", .integer), ("ID", .string),
      ("String", .string), ("Boolean", .boolean):
      return nil
    default: return ""
    }
  }

  private func isCustomScalar(_ type: TypeReference) -> Bool {
    guard type.element == nil, let named = schema.type(in: type) else { return false }
    return named.kind == .scalar && !named.isBuiltIn
  }

  private func reportType(of value: ValueSyntax, _ type: TypeReference, _ fault: String = "") {
    var notes: [Diagnostic] = fault.isEmpty ? [] : [.hint(fault)]
    if case .string(let text) = value.kind, let named = schema.type(in: type),
      named.value(named: text) != nil
    {
      notes.append(.hint("a value of an enum stands without quotes"))
    }
    report(
      "ValuesOfCorrectType", "expected a value of type '\(type)', found \(value.shortText)",
      at: value.range, notes: notes)
  }
}

extension ValueSyntax {
  fileprivate var isVariable: Bool { if case .variable = kind { true } else { false } }

  /// The value in a message.
  fileprivate var shortText: String {
    switch kind {
    case .list: "a list"
    case .object: "an object"
    default: canonicalText
    }
  }
}
