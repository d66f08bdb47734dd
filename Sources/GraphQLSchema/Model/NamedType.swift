// The types of a schema, with their parts.

public import Diagnostics

/// A type of a schema. Lists that its kind does not have are empty.
public final class NamedType: Sendable {
  /// The name.
  public let name: String
  /// The kind.
  public let kind: TypeKind
  /// The description.
  public let description: String?
  /// The fields of an object or interface, in schema order, those of extensions last; without
  /// `__typename`.
  public let fields: [OutputField]
  /// The names of the interfaces that an object or interface implements, in schema order.
  public let interfaces: [String]
  /// The names of a union's members, in schema order.
  public let members: [String]
  /// The values of an enum, in schema order.
  public let values: [EnumValue]
  /// The fields of an input object, in schema order.
  public let inputFields: [InputValue]
  /// Whether a value of an input object has exactly one field: `@oneOf`.
  public let isOneOf: Bool
  /// The page that specifies a custom scalar: `@specifiedBy(url:)`.
  public let specifiedByURL: String?
  /// Whether every schema has it: `Int`, `Float`, `String`, `Boolean`, `ID`, and the types of
  /// introspection.
  public let isBuiltIn: Bool
  /// The place of its name.
  public let range: SourceRange
  /// Positions in `fields`; empty if there are few, which are faster to compare one by one.
  private let fieldNumbers: [String: Int]

  /// Whether its values have no selections.
  public var isLeaf: Bool { kind == .scalar || kind == .enumeration }
  /// Whether its values have selections.
  public var isComposite: Bool { kind == .object || isAbstract }
  /// Whether its values are those of several object types.
  public var isAbstract: Bool { kind == .interface || kind == .union }
  /// Whether it can be the type of a variable or argument.
  public var isInput: Bool { isLeaf || kind == .inputObject }
  /// Whether it can be the type of a field.
  public var isOutput: Bool { kind != .inputObject }

  /// The field called `name`; nil for `__typename`, see ``Schema/field(named:in:)``.
  public func field(named name: String) -> OutputField? {
    if !fieldNumbers.isEmpty { return fieldNumbers[name].map { fields[$0] } }
    for field in fields where field.name == name { return field }
    return nil
  }

  /// The value of an enum called `name`.
  public func value(named name: String) -> EnumValue? { values.first { $0.name == name } }

  /// The field of an input object called `name`.
  public func inputField(named name: String) -> InputValue? {
    inputFields.first { $0.name == name }
  }

  init(
    name: String, kind: TypeKind, description: String?, fields: [OutputField],
    interfaces: [String], members: [String], values: [EnumValue], inputFields: [InputValue],
    isOneOf: Bool, specifiedByURL: String?, isBuiltIn: Bool, range: SourceRange
  ) {
    self.name = name
    self.kind = kind
    self.description = description
    self.fields = fields
    self.interfaces = interfaces
    self.members = members
    self.values = values
    self.inputFields = inputFields
    self.isOneOf = isOneOf
    self.specifiedByURL = specifiedByURL
    self.isBuiltIn = isBuiltIn
    self.range = range
    var numbers: [String: Int] = [:]
    if fields.count > 16 {
      for (number, field) in fields.enumerated() where numbers[field.name] == nil {
        numbers[field.name] = number
      }
    }
    fieldNumbers = numbers
  }
}

/// A field of an object or interface.
public final class OutputField: Sendable {
  /// The name.
  public let name: String
  /// The description.
  public let description: String?
  /// The arguments that it takes, in schema order.
  public let arguments: [InputValue]
  /// The type.
  public let type: TypeReference
  /// Why it should not be used any more; nil if it is not deprecated.
  public let deprecationReason: String?
  /// The place of its name.
  public let range: SourceRange

  /// The argument called `name`.
  public func argument(named name: String) -> InputValue? { arguments.first { $0.name == name } }

  init(
    name: String, description: String?, arguments: [InputValue], type: TypeReference,
    deprecationReason: String?, range: SourceRange
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments
    self.type = type
    self.deprecationReason = deprecationReason
    self.range = range
  }
}

/// An argument of a field or directive, or a field of an input object.
public final class InputValue: Sendable {
  /// The name.
  public let name: String
  /// The description.
  public let description: String?
  /// The type.
  public let type: TypeReference
  /// The default.
  public let defaultValue: ValueSyntax?
  /// Why it should not be used any more; nil if it is not deprecated.
  public let deprecationReason: String?
  /// The place of its name.
  public let range: SourceRange

  /// Whether a value must be given: its type excludes null and it has no default.
  public var isRequired: Bool { type.isNonNull && defaultValue == nil }

  init(
    name: String, description: String?, type: TypeReference, defaultValue: ValueSyntax?,
    deprecationReason: String?, range: SourceRange
  ) {
    self.name = name
    self.description = description
    self.type = type
    self.defaultValue = defaultValue
    self.deprecationReason = deprecationReason
    self.range = range
  }
}

/// One value of an enum.
public struct EnumValue: Sendable {
  /// The name.
  public let name: String
  /// The description.
  public let description: String?
  /// Why it should not be used any more; nil if it is not deprecated.
  public let deprecationReason: String?
  /// The place of its name.
  public let range: SourceRange
}

/// A directive that documents may use.
public final class DirectiveDefinition: Sendable {
  /// The name, without `@`.
  public let name: String
  /// The description.
  public let description: String?
  /// The arguments that it takes, in schema order.
  public let arguments: [InputValue]
  /// Whether it may stand several times in one place.
  public let isRepeatable: Bool
  /// Where it may stand.
  public let locations: [DirectiveLocation]
  /// Whether every schema has it: `@skip`, `@include`, `@deprecated`, `@specifiedBy`.
  public let isBuiltIn: Bool
  /// The place of its name.
  public let range: SourceRange

  init(
    name: String, description: String?, arguments: [InputValue], isRepeatable: Bool,
    locations: [DirectiveLocation], isBuiltIn: Bool, range: SourceRange
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.isBuiltIn = isBuiltIn
    self.range = range
  }
}
