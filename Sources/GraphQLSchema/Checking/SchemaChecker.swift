// Whether types are as the specification demands (chapter 3, "Type Validation").
//
// The types may still contain names that mean nothing; those are reported already.

import Diagnostics

struct SchemaChecker {
  let schema: Schema
  let sink: DiagnosticSink

  static func check(_ schema: Schema, sink: DiagnosticSink) {
    let checker = SchemaChecker(schema: schema, sink: sink)
    for type in schema.types where !type.isBuiltIn {
      checker.checkName(type.name, at: type.range)
      checker.checkParts(type)
      checker.checkInterfaces(type)
    }
    for directive in schema.directives where !directive.isBuiltIn {
      checker.checkName(directive.name, at: directive.range)
      checker.checkArguments(directive.arguments, of: "@\(directive.name)")
    }
    checker.checkInputCycles()
  }

  private func report(_ message: String, at range: SourceRange, notes: [Diagnostic] = []) {
    sink.error(message, at: range, rule: "TypeValidation", notes: notes)
  }

  private func checkName(_ name: String, at range: SourceRange) {
    guard name.hasPrefix("__") else { return }
    report(
      "'\(name)' begins with '__', which is reserved for introspection", at: range)
  }

  // MARK: Parts

  private func checkParts(_ type: NamedType) {
    switch type.kind {
    case .scalar: break
    case .object, .interface:
      requireSome(type.fields, "field", of: type)
      checkNames(
        type.fields, "field", of: type.name,
        rule: "UniqueFieldDefinitionNames")
      for field in type.fields {
        checkArguments(field.arguments, of: "\(type.name).\(field.name)")
      }
    case .inputObject:
      requireSome(type.inputFields, "field", of: type)
      checkNames(
        type.inputFields, "field", of: type.name,
        rule: "UniqueFieldDefinitionNames")
      checkDeprecation(type.inputFields)
      if type.isOneOf { checkOneOf(type) }
    case .enumeration:
      requireSome(type.values, "value", of: type)
      checkNames(
        type.values, "value", of: type.name,
        rule: "UniqueEnumValueNames")
    case .union:
      requireSome(type.members, "member", of: type)
      reportRepeated(type.members, of: type) { "'\($0)' is a member of '\(type.name)' twice" }
    }
  }

  private func requireSome<Part>(_ parts: [Part], _ what: String, of type: NamedType) {
    guard parts.isEmpty else { return }
    report("'\(type.name)' has no \(what); it needs at least one", at: type.range)
  }

  private func checkNames(
    _ parts: [some SchemaPart], _ what: String, of owner: String, rule: String
  ) {
    for part in parts { checkName(part.name, at: part.range) }
    guard parts.count > 16 || hasRepetition(parts) else { return }
    var first: [String: SourceRange] = [:]
    for part in parts {
      let (name, range) = (part.name, part.range)
      if let earlier = first[name] {
        sink.error(
          "'\(owner)' has a second \(what) called '\(name)'", at: range, rule: rule,
          notes: [earlier.note("the first one is here")])
      } else {
        first[name] = range
      }
    }
  }

  /// Compares a few names one by one, which takes less time than to hash them.
  private func hasRepetition(_ parts: [some SchemaPart]) -> Bool {
    var names: [String] = []
    for part in parts {
      let name = part.name
      for other in names where other == name { return true }
      names.append(name)
    }
    return false
  }

  private func checkArguments(_ arguments: [InputValue], of owner: @autoclosure () -> String) {
    guard !arguments.isEmpty else { return }
    checkNames(
      arguments, "argument", of: owner(),
      rule: "UniqueArgumentDefinitionNames")
    checkDeprecation(arguments)
  }

  private func checkDeprecation(_ values: [InputValue]) {
    for value in values where value.isRequired && value.deprecationReason != nil {
      report(
        "'\(value.name)' is required, so it cannot be deprecated", at: value.range,
        notes: [.hint("give it a default, or make its type nullable")])
    }
  }

  /// Of one field only, each may be missing.
  private func checkOneOf(_ type: NamedType) {
    for field in type.inputFields where field.type.isNonNull || field.defaultValue != nil {
      report(
        "'\(type.name)' has exactly one field in each value, so '\(field.name)' is nullable and "
          + "has no default", at: field.range)
    }
  }

  private func reportRepeated(
    _ names: [String], of type: NamedType, _ message: (String) -> String
  ) {
    var seen: Set<String> = []
    for name in names where !seen.insert(name).inserted {
      report(message(name), at: type.range)
    }
  }

  // MARK: Interfaces

  private func checkInterfaces(_ type: NamedType) {
    reportRepeated(type.interfaces, of: type) { "'\(type.name)' implements '\($0)' twice" }
    for name in type.interfaces {
      guard let interface = schema.type(named: name), interface.kind == .interface else { continue }
      if name == type.name {
        report("'\(name)' cannot implement itself", at: type.range)
        continue
      }
      for ancestor in interface.interfaces where !type.interfaces.contains(ancestor) {
        let message =
          ancestor == type.name
          ? "'\(type.name)' and '\(name)' implement each other"
          : "'\(type.name)' implements '\(name)', so it must implement '\(ancestor)' too"
        report(message, at: type.range)
      }
      for field in interface.fields { check(type, implements: field, of: interface) }
    }
  }

  private func check(_ type: NamedType, implements field: OutputField, of interface: NamedType) {
    guard let own = type.field(named: field.name) else {
      report(
        "'\(type.name)' has no field '\(field.name)', which '\(interface.name)' demands",
        at: type.range, notes: [field.range.note("it is declared here")])
      return
    }
    let isKnown = schema.type(in: own.type) != nil && schema.type(in: field.type) != nil
    if isKnown, !schema.isSubtype(own.type, of: field.type) {
      report(
        "'\(type.name).\(own.name)' is of type '\(own.type)', "
          + "but '\(interface.name)' demands '\(field.type)'", at: own.range,
        notes: [field.range.note("it is declared here")])
    }
    if own.deprecationReason != nil, field.deprecationReason == nil {
      // The specification demands it since 2025, so services publish such schemas.
      sink.warning(
        "'\(type.name).\(own.name)' is deprecated, but '\(interface.name).\(field.name)', which it "
          + "implements, is not", at: own.range, rule: "TypeValidation",
        notes: [field.range.note("it is declared here")])
    }
    for argument in field.arguments {
      guard let given = own.argument(named: argument.name) else {
        report(
          "'\(type.name).\(own.name)' has no argument '\(argument.name)', "
            + "which '\(interface.name)' demands", at: own.range,
          notes: [argument.range.note("it is declared here")])
        continue
      }
      if given.type != argument.type {
        report(
          "the argument '\(given.name)' is of type '\(given.type)', "
            + "but '\(interface.name)' demands '\(argument.type)'", at: given.range,
          notes: [argument.range.note("it is declared here")])
      }
    }
    for argument in own.arguments where argument.isRequired {
      guard field.argument(named: argument.name) == nil else { continue }
      report(
        "'\(interface.name)' does not have the argument '\(argument.name)', "
          + "so it cannot be required", at: argument.range,
        notes: [field.range.note("the field is declared here")])
    }
  }

  // MARK: Input objects

  /// Reports input objects of which no value can be written, because each contains another one.
  private func checkInputCycles() {
    let objects = schema.types.filter { $0.kind == .inputObject }
    var numbers: [String: Int] = [:]
    for (number, object) in objects.enumerated() { numbers[object.name] = number }
    forEachCycle(
      among: objects.count,
      next: { object in
        objects[object].inputFields.map { field in
          if case .nonNull(.named(let name)) = field.type { numbers[name] } else { nil }
        }
      }
    ) { path, arrow in
      guard let last = path.last, let first = path.first else { return }
      report(
        "no value of '\(objects[first].name)' can be written: it contains itself, never null",
        at: objects[last].inputFields[arrow].range,
        notes: [.hint("let one of the fields be null, or a list")])
    }
  }
}

/// What has a name in a type.
private protocol SchemaPart {
  var name: String { get }
  var range: SourceRange { get }
}

extension OutputField: SchemaPart {}
extension InputValue: SchemaPart {}
extension EnumValue: SchemaPart {}
