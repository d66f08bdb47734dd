// SwiftField: a field of a table or struct as generated code declares, reads and writes it.
//
// Everything that generated code needs for a field is derived here once; the files that write types
// combine the pieces.

import DflatSchema

struct SwiftField {
  let definition: FieldDefinition
  let names: TypeNames
  let scope: TypeNames.Scope
  /// Whether it is in a fixed struct: always present.
  let isInStruct: Bool
  /// Whether the stored property closes a cycle of types.
  var isBoxed = false
  /// Whether the name refers to a parameter, not a property, where the field is written.
  var isParameter = false

  /// The Swift name, without back-ticks.
  var name: String { definition.swiftName }

  /// The Swift name in a declaration or after a dot.
  var member: String { Identifier.escaped(name) }

  /// The property, or parameter, with nothing before it.
  var property: String {
    if isParameter { return local }
    // Alone, these are words of Swift, or types that generated code declares.
    let isHidden =
      ["self", "init", "Type", "Protocol"].contains(name) || scope.generated.types.contains(name)
    return isHidden ? "self." + member : member
  }

  /// A local variable for the property.
  var local: String {
    name == "self" ? Identifier.fresh("_self", avoiding: scope.members) : member
  }

  /// The name of a boxed property's storage.
  var box: String { Identifier.fresh("_\(name)Box", avoiding: scope.members) }

  /// The statement that initialises a property of a plain value.
  func initialised(_ target: String, by value: String) -> String {
    isBoxed ? "\(box) = \(names.dflat("Indirect"))(\(value))" : "\(target) = \(value)"
  }

  var offset: Int { definition.offset }

  /// The same field, named in another context.
  func moved(to scope: TypeNames.Scope) -> SwiftField {
    SwiftField(
      definition: definition, names: names, scope: scope, isInStruct: isInStruct, isBoxed: isBoxed)
  }

  // MARK: Types

  /// The type of an element or of a present value.
  func valueType(_ type: FieldType) -> String {
    switch type {
    case .scalar(let scalar): swiftType ?? names.swift(scalar.swiftName)
    case .string: swiftType ?? names.swift("String")
    case .vector where definition.swiftType == .data: names.foundation("Data")
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name):
      names.type(name, in: scope)
    case .vector(let element), .array(let element, _): "[\(valueType(element))]"
    }
  }

  /// The type of an element of a vector. The elements of `Data` are bytes.
  func elementType(_ type: FieldType) -> String {
    if definition.swiftType == .data, case .scalar(let scalar) = type {
      return names.swift(scalar.swiftName)
    }
    return valueType(type)
  }

  /// Whether the property is optional.
  var isOptional: Bool {
    if isInStruct { return false }
    switch definition.type {
    case .scalar, .enumeration:
      return definition.defaultValue == .null && !definition.isPrimary
    case .string: return stringDefault == nil
    case .structure, .table: return !definition.isRequired
    // Optional: an unknown member reads as nil, which differs from every known member.
    case .union: return true
    case .vector, .array: return false
    }
  }

  /// The property's type.
  var type: String { valueType(definition.type) + (isOptional ? "?" : "") }

  /// Whether the memberwise initialiser requires it.
  private var isDemanded: Bool { definition.isPrimary || definition.isRequired }

  /// Whether it is written even if it is empty: upstream's readers expect the strings of a primary
  /// key to be present, and all readers expect required fields.
  private var isAlwaysWritten: Bool { isDemanded }

  /// A union that the schema requires, but that is optional in Swift.
  var isRequiredUnion: Bool {
    if case .union = definition.type { definition.isRequired } else { false }
  }

  /// The memberwise initialiser's parameter: keys and required fields must be given; all others may
  /// be nil or omitted.
  var parameter: String {
    let label = name == "self" ? "`self` \(local)" : member
    let value = valueType(definition.type)
    if isDemanded { return "\(label): \(value)" }
    return "\(label): \(value)? = \(form == nil ? defaultExpression : "nil")"
  }

  /// A parameter of the property's own type. It has no label: many names would need back-ticks in
  /// declarations and must not have them in calls.
  var lentParameter: String { "_ \(local): \(type)" }

  /// The value of the property, from the memberwise initialiser's parameter.
  var argument: String {
    isOptional || isDemanded ? local : "\(local) ?? \(defaultExpression)"
  }

  // MARK: Defaults

  /// The default of a string that is never nil.
  private var stringDefault: String? {
    if case .string(let value) = definition.defaultValue { return value }
    return isDemanded ? "" : nil
  }

  private func scalarDefault(_ scalar: ScalarType) -> DefaultValue {
    guard let value = definition.defaultValue, value != .null else { return scalar.zero }
    return value
  }

  private func enumDefault(_ name: QualifiedName) -> Int64 {
    definition.defaultValue?.bitPattern ?? names.enumeration(name)?.impliedDefault ?? 0
  }

  /// The property's value if none was given.
  var defaultExpression: String {
    if isOptional { return "nil" }
    switch definition.type {
    case .scalar, .string:
      return form.map { "\($0)._reading(\(storedDefault))" } ?? storedDefault
    case .enumeration(let name): return enumExpression(name, enumDefault(name))
    case .structure(let name):
      let isMadeOfNothing = names.structure(name)?.fields.contains(where: \.isPrimary) == false
      return names.expression(name, in: scope)
        + (definition.isRequired || !isMadeOfNothing ? "._empty" : "()")
    case .table(let name): return names.expression(name, in: scope) + "._empty"
    case .union: return "nil"
    case .vector where definition.swiftType == .data: return names.foundation("Data") + "()"
    case .vector, .array: return "[]"
    }
  }

  /// The stored value of a non-optional scalar or string if none was given.
  var storedDefault: String {
    if case .scalar(let scalar) = definition.type {
      return scalarDefault(scalar).expression(as: scalar)
    }
    return Literal.string(stringDefault ?? "")
  }

  private func enumExpression(_ name: QualifiedName, _ raw: Int64) -> String {
    guard let definition = names.enumeration(name) else { return "nil" }
    if definition.isBitFlags, raw == 0 { return "[]" }
    let value = definition.values.first { $0.value == raw }
    if value == nil, definition.isBitFlags {
      return "\(names.expression(name, in: scope))(rawValue: \(definition.literal(raw)))"
    }
    guard let value = value ?? definition.values.first else { return "nil" }
    let member = enumCaseName(value.name)
    // `.none` and `.some` without a type would be those of Optional.
    let type = ["none", "some"].contains(member) ? names.expression(name, in: scope) : ""
    return type + "." + Identifier.escaped(member)
  }

  // MARK: Reading

  /// The value, read from a table or struct.
  func read(from reader: String) -> String {
    let at = "at: \(offset)"
    if let form { return read(from: reader, as: form) }
    switch definition.type {
    case .scalar where isInStruct: return "\(reader).scalar(\(at))"
    case .scalar, .enumeration:
      let method =
        if case .scalar = definition.type { "scalar" } else { "enumeration" }
      if isOptional { return "\(reader).\(method)(\(at))" }
      return "\(reader).\(method)(\(at), default: \(defaultExpression))"
    case .string:
      let read = "\(reader).string(\(at))"
      return isOptional ? read : "\(read) ?? \(defaultExpression)"
    case .structure where !isInStruct && definition.isRequired:
      return "\(reader).structure(\(at)) ?? \(defaultExpression)"
    case .table where definition.isRequired:
      return "\(reader).table(\(at)) ?? \(defaultExpression)"
    case .structure: return "\(reader).structure(\(at))"
    case .table: return "\(reader).table(\(at))"
    case .union: return "\(reader).union(\(at))"
    case .vector where definition.swiftType == .data: return "\(reader).data(\(at))"
    case .vector(let element): return "\(reader).\(Self.plural(element))(\(at))"
    case .array(let element, let count):
      return "\(reader).\(Self.plural(element))(\(at), count: \(count))"
    }
  }

  private static func plural(_ element: FieldType) -> String {
    switch element {
    case .scalar: "scalars"
    case .string: "strings"
    case .enumeration: "enumerations"
    case .structure: "structures"
    case .table: "tables"
    case .union: "unions"
    case .vector, .array: preconditionFailure("a vector of vectors is no valid schema")
    }
  }

  // MARK: Writing

  /// Writes the data outside the table, before the table is begun; nil if the whole field is
  /// inside.
  func encodeChild(with builder: String) -> String? {
    switch definition.type {
    case .scalar, .enumeration, .structure, .array: return nil
    case .string:
      let omitted = isOptional || isAlwaysWritten ? "" : ", omitting: \(storedDefault)"
      return "let \(local) = \(builder).string(\(property)\(omitted)\(formArgument))"
    case .table where definition.isRequired:
      return "let \(local) = \(property)._encode(to: \(builder))"
    case .table where isBoxed:
      return "let \(local) = \(builder).table(\(property))"
    case .table:
      let none = names.runtime("FlatBufferBuilder") + ".Offset.none"
      return "let \(local) = \(property)?._encode(to: \(builder)) ?? \(none)"
    case .union:
      return "let \(local) = \(builder).union(\(property))"
    case .vector(let element):
      let required = isAlwaysWritten ? ", required: true" : ""
      let method = definition.swiftType == .data ? "data" : Self.plural(element)
      let isChecked = if case .scalar = element { form != nil } else { false }
      let refusal = isChecked ? ", \(Literal.string(name))" : ""
      let arguments = "\(property)\(required)\(formArgument)\(refusal)"
      return "let \(local) = \(builder).\(method)(\(arguments))"
    }
  }

  /// What is written into the table: the size, which determines the order, the slot, and the
  /// statement.
  func add(to builder: String) -> [(size: Int, offset: Int, statement: String)] {
    let at = "at: \(offset)"
    switch definition.type {
    case .scalar(let scalar):
      let value = isOptional ? "" : ", default: \(storedDefault)"
      let form = form == nil ? "" : "\(formArgument), \(Literal.string(name))"
      return [(scalar.size, offset, "\(builder).add(\(property), \(at)\(value)\(form))")]
    case .enumeration(let name):
      let size = names.enumeration(name)?.underlying.size ?? 0
      if isOptional {
        return [(size, offset, "\(builder).add(\(property)?.rawValue, \(at))")]
      }
      let value = names.enumeration(name)?.literal(enumDefault(name)) ?? "0"
      return [(size, offset, "\(builder).add(\(property).rawValue, \(at), default: \(value))")]
    case .structure(let name):
      let (size, alignment) = names.structure(name).map { ($0.size, $0.alignment) } ?? (0, 1)
      let places = "\(at), size: \(size), alignment: \(alignment)"
      return [(alignment, offset, "\(builder).addStructure(\(property), \(places))")]
    case .union:
      return [
        (4, offset, "\(builder).add(\(local).value, \(at))"),
        (1, offset - 2, "\(builder).add(\(local).tag, at: \(offset - 2), default: 0)"),
      ]
    case .vector(.union):
      return [
        (4, offset - 2, "\(builder).add(\(local).tags, at: \(offset - 2))"),
        (4, offset, "\(builder).add(\(local).values, \(at))"),
      ]
    case .string, .table, .vector, .array:
      return [(4, offset, "\(builder).add(\(local), \(at))")]
    }
  }

  /// Writes the field of a fixed struct.
  func write(to memory: String) -> String {
    if case .array(_, let count) = definition.type {
      return "\(memory).write(\(property), at: \(offset), count: \(count))"
    }
    return "\(memory).write(\(property), at: \(offset)\(formArgument))"
  }

  // MARK: Layout

  /// The field in its table's or struct's layout.
  var layout: String {
    let required = definition.isRequired ? ", required: true" : ""
    let schemaName = Literal.string(definition.name)
    let swift = name == definition.name ? "" : ", swift: \(Literal.string(name))"
    return "\(names.dflat("Property"))(\(schemaName), \(offset), "
      + "\(kind(definition.type))\(swift)\(required)\(formArgument))"
  }

  private func kind(_ type: FieldType, isElement: Bool = false) -> String {
    switch type {
    case .scalar(let scalar):
      let value =
        isElement || isOptional ? "nil" : scalarDefault(scalar).layoutExpression(as: scalar)
      return ".scalar(\(scalar.valueType), default: \(value))"
    case .string:
      let value = isElement || isOptional ? "nil" : storedDefault
      return ".string(default: \(value))"
    case .enumeration(let name):
      let value = isElement || isOptional ? "nil" : "\(enumDefault(name))"
      return ".enumeration({ \(layout(of: name)) }, default: \(value))"
    case .structure(let name): return ".structure { \(layout(of: name)) }"
    case .table(let name): return ".table { \(layout(of: name)) }"
    case .union(let name): return ".union { \(layout(of: name)) }"
    case .vector(let element): return ".vector(\(kind(element, isElement: true)))"
    case .array(let element, let count):
      return ".array(\(kind(element, isElement: true)), count: \(count))"
    }
  }

  private func layout(of name: QualifiedName) -> String {
    names.expression(name, in: scope) + "._layout"
  }
}
