// Definitions and extensions of schemas, types and directives.

public import Diagnostics

/// The kinds of named types; the raw values are those of introspection.
public enum TypeKind: String, Sendable, CaseIterable {
  /// A leaf whose values the schema does not describe.
  case scalar = "SCALAR"
  /// Values with fields.
  case object = "OBJECT"
  /// Fields that several objects have.
  case interface = "INTERFACE"
  /// One of several objects.
  case union = "UNION"
  /// A leaf with a list of values.
  case enumeration = "ENUM"
  /// A value with fields that is passed as an argument.
  case inputObject = "INPUT_OBJECT"
}

/// `schema { query: Query … }` or `extend schema …`.
public struct SchemaDefinitionSyntax: Sendable {
  /// One root type.
  public struct RootType: Sendable {
    /// The kind of its operations.
    public let operation: OperationKind
    /// The place of the operation's kind.
    public let operationRange: SourceRange
    /// The type's name.
    public let type: NameSyntax
  }

  /// The description.
  public let description: DescriptionSyntax?
  /// Whether it extends a schema.
  public let isExtension: Bool
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// The root types.
  public let rootTypes: [RootType]
  /// The place of the word `schema`.
  public let keywordRange: SourceRange
}

/// A type's definition or extension. Lists that its kind does not have are empty.
public final class TypeDefinitionSyntax: Sendable {
  /// The kind.
  public let kind: TypeKind
  /// The name.
  public let name: NameSyntax
  /// The description.
  public let description: DescriptionSyntax?
  /// Whether it extends a type that is defined elsewhere.
  public let isExtension: Bool
  /// The interfaces of an object or interface.
  public let interfaces: [NameSyntax]
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// The fields of an object or interface.
  public let fields: [FieldDefinitionSyntax]
  /// The members of a union.
  public let members: [NameSyntax]
  /// The values of an enum.
  public let values: [EnumValueDefinitionSyntax]
  /// The fields of an input object.
  public let inputFields: [InputValueDefinitionSyntax]

  init(
    kind: TypeKind, name: NameSyntax, description: DescriptionSyntax? = nil,
    isExtension: Bool = false, interfaces: [NameSyntax] = [], directives: [DirectiveSyntax] = [],
    fields: [FieldDefinitionSyntax] = [], members: [NameSyntax] = [],
    values: [EnumValueDefinitionSyntax] = [], inputFields: [InputValueDefinitionSyntax] = []
  ) {
    self.kind = kind
    self.name = name
    self.description = description
    self.isExtension = isExtension
    self.interfaces = interfaces
    self.directives = directives
    self.fields = fields
    self.members = members
    self.values = values
    self.inputFields = inputFields
  }
}

/// A field of an object or interface.
public final class FieldDefinitionSyntax: Sendable {
  /// The description.
  public let description: DescriptionSyntax?
  /// The name.
  public let name: NameSyntax
  /// The arguments that it takes.
  public let arguments: [InputValueDefinitionSyntax]
  /// The type.
  public let type: TypeSyntax
  /// The directives.
  public let directives: [DirectiveSyntax]

  init(
    description: DescriptionSyntax?, name: NameSyntax, arguments: [InputValueDefinitionSyntax],
    type: TypeSyntax, directives: [DirectiveSyntax]
  ) {
    self.description = description
    self.name = name
    self.arguments = arguments
    self.type = type
    self.directives = directives
  }
}

/// An argument of a field or directive, or a field of an input object.
public final class InputValueDefinitionSyntax: Sendable {
  /// The description.
  public let description: DescriptionSyntax?
  /// The name.
  public let name: NameSyntax
  /// The type.
  public let type: TypeSyntax
  /// The default.
  public let defaultValue: ValueSyntax?
  /// The directives.
  public let directives: [DirectiveSyntax]

  init(
    description: DescriptionSyntax?, name: NameSyntax, type: TypeSyntax, defaultValue: ValueSyntax?,
    directives: [DirectiveSyntax]
  ) {
    self.description = description
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.directives = directives
  }
}

/// One value of an enum.
public final class EnumValueDefinitionSyntax: Sendable {
  /// The description.
  public let description: DescriptionSyntax?
  /// The name.
  public let name: NameSyntax
  /// The directives.
  public let directives: [DirectiveSyntax]

  init(
    description: DescriptionSyntax?, name: NameSyntax, directives: [DirectiveSyntax]
  ) {
    self.description = description
    self.name = name
    self.directives = directives
  }
}

/// `directive @name(arguments) repeatable on LOCATION | …`.
public struct DirectiveDefinitionSyntax: Sendable {
  /// The description.
  public let description: DescriptionSyntax?
  /// The name, without `@`; its place includes the `@`.
  public let name: NameSyntax
  /// The arguments that it takes.
  public let arguments: [InputValueDefinitionSyntax]
  /// Whether it may stand several times in one place.
  public let isRepeatable: Bool
  /// Where it may stand.
  public let locations: [DirectiveLocation]
}

/// The places where a directive may stand; the raw values are those of the language.
public enum DirectiveLocation: String, Sendable, CaseIterable {
  case query = "QUERY"
  case mutation = "MUTATION"
  case subscription = "SUBSCRIPTION"
  case field = "FIELD"
  case fragmentDefinition = "FRAGMENT_DEFINITION"
  case fragmentSpread = "FRAGMENT_SPREAD"
  case inlineFragment = "INLINE_FRAGMENT"
  case variableDefinition = "VARIABLE_DEFINITION"
  case schema = "SCHEMA"
  case scalar = "SCALAR"
  case object = "OBJECT"
  case fieldDefinition = "FIELD_DEFINITION"
  case argumentDefinition = "ARGUMENT_DEFINITION"
  case interface = "INTERFACE"
  case union = "UNION"
  case enumeration = "ENUM"
  case enumValue = "ENUM_VALUE"
  case inputObject = "INPUT_OBJECT"
  case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
}
