// Tables and fixed structs, with everything about their places in a buffer.

/// A field of a table or fixed struct.
public struct FieldDefinition: Sendable {
  /// The name as the schema has it.
  public var name: String
  /// The type, resolved.
  public var type: FieldType
  /// The explicit or implied default of a scalar or enum; an explicit default of a string; nil for
  /// everything else and for fields of structs.
  public var defaultValue: DefaultValue?
  /// In a table: the vtable offset, `4 + 2 × slot` (of a union or a vector of unions: the value's; the tag's is two less).
  /// In a struct: the byte offset.
  public var offset: Int
  /// `deprecated`: without a Swift name, but with its slot.
  public var isDeprecated = false
  /// `required`: a buffer without it does not verify.
  public var isRequired = false
  /// `primary`: on the root, a part of the primary key.
  public var isPrimary = false
  /// `indexed`, or `unique`.
  public var isIndexed = false
  /// Implies `isIndexed`.
  public var isUnique = false
  /// `swift_name`: the name in Swift, in place of what the rule gives.
  public var chosenName: String?
  /// `swift`: the type in Swift, in place of that of the stored type; of a vector, that of its elements, but for `Data`.
  public var swiftType: SwiftType?
  /// All attributes as written, for those who want more.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration, without the slashes and one leading blank.
  public var documentation: [String] = []
  /// Where the name stands.
  public var position: SourcePosition

  /// Makes a field from its parts.
  public init(
    name: String, type: FieldType, defaultValue: DefaultValue? = nil, offset: Int,
    position: SourcePosition
  ) {
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.offset = offset
    self.position = position
  }
}

/// A table. Fields are in declaration order, deprecated ones included.
public struct TableDefinition: Sendable {
  /// The full name.
  public var name: QualifiedName
  /// The fields, in declaration order.
  public var fields: [FieldDefinition]
  /// Slots in the vtable, deprecated ones and union tags included.
  public var slotCount: Int
  /// The `v` attribute.
  public var version: String?
  /// `swift_name`: the name in Swift, in place of what the rule gives.
  public var chosenName: String?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration.
  public var documentation: [String] = []
  /// Where the name stands.
  public var position: SourcePosition

  /// Makes a definition from its parts; what is not given is empty.
  public init(
    name: QualifiedName, fields: [FieldDefinition] = [], slotCount: Int = 0,
    version: String? = nil, position: SourcePosition
  ) {
    self.name = name
    self.fields = fields
    self.slotCount = slotCount
    self.version = version
    self.position = position
  }
}

/// A fixed struct.
public struct StructDefinition: Sendable {
  /// The full name.
  public var name: QualifiedName
  /// The fields, in declaration order.
  public var fields: [FieldDefinition]
  /// Bytes, a multiple of the alignment.
  public var size: Int
  /// A power of two, at most 32.
  public var alignment: Int
  /// The `v` attribute.
  public var version: String?
  /// `swift_name`: the name in Swift, in place of what the rule gives.
  public var chosenName: String?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration.
  public var documentation: [String] = []
  /// Where the name stands.
  public var position: SourcePosition

  /// Makes a definition from its parts; what is not given is empty.
  public init(
    name: QualifiedName, fields: [FieldDefinition] = [], size: Int = 0, alignment: Int = 1,
    position: SourcePosition
  ) {
    self.name = name
    self.fields = fields
    self.size = size
    self.alignment = alignment
    self.position = position
  }
}
