// Tables and fixed structs, with their layout in a buffer.

/// A field of a table or fixed struct.
public struct FieldDefinition: Sendable {
  /// The name as written in the schema.
  public var name: String
  /// The resolved type.
  public var type: FieldType
  /// The explicit or implied default of a scalar or enum, or an explicit default of a string; nil
  /// for all other types and for fields of structs.
  public var defaultValue: DefaultValue?
  /// In a table: the vtable offset, `4 + 2 × slot` (for a union or a vector of unions that of the
  /// value; the tag's is two less). In a struct: the byte offset.
  public var offset: Int
  /// `deprecated`: has no Swift name, but keeps its slot.
  public var isDeprecated = false
  /// `required`: a buffer without it fails verification.
  public var isRequired = false
  /// `primary`: on the root, a part of the primary key.
  public var isPrimary = false
  /// `indexed`, or `unique`.
  public var isIndexed = false
  /// Implies `isIndexed`.
  public var isUnique = false
  /// `fulltext`: objects are found by the words of this field.
  public var isFullText = false
  /// The tokenizer that `fulltext` names; nil if it names none.
  public var tokenizer: Tokenizer?
  /// The Swift name from `swift_name`, instead of the default rule.
  public var chosenName: String?
  /// The Swift type from `swift`, instead of that of the stored type; for a vector the type of its
  /// elements, except for `Data`.
  public var swiftType: SwiftType?
  /// `references`: the entity whose primary key the field has.
  public var reference: ReferenceDefinition?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration, without the slashes and one leading space.
  public var documentation: [String] = []
  /// The position of the name.
  public var position: SourcePosition

  /// Creates a field from its parts.
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

/// A table. Fields are in declaration order, including deprecated ones.
public struct TableDefinition: Sendable {
  /// The full name.
  public var name: QualifiedName
  /// The fields, in declaration order.
  public var fields: [FieldDefinition]
  /// The number of slots in the vtable, including deprecated ones and union tags.
  public var slotCount: Int
  /// The `v` attribute.
  public var version: String?
  /// The indexes of the `index` attribute. They have an effect on a root only.
  public var compoundIndexes: [CompoundIndex] = []
  /// The references of the `references` attribute, by compound keys.
  public var compoundReferences: [CompoundReference] = []
  /// The Swift name from `swift_name`, instead of the default rule.
  public var chosenName: String?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration.
  public var documentation: [String] = []
  /// The position of the name.
  public var position: SourcePosition

  /// Creates a definition from its parts; omitted parts are empty.
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
  /// The size in bytes, a multiple of the alignment.
  public var size: Int
  /// A power of two, at most 32.
  public var alignment: Int
  /// The `v` attribute.
  public var version: String?
  /// The Swift name from `swift_name`, instead of the default rule.
  public var chosenName: String?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration.
  public var documentation: [String] = []
  /// The position of the name.
  public var position: SourcePosition

  /// Creates a definition from its parts; omitted parts are empty.
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
