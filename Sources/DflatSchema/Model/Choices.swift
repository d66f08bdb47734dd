// Enums and unions: types whose values are one of several alternatives.

/// An enum. Values are in declaration order.
public struct EnumDefinition: Sendable {
  /// One value of an enum.
  public struct Value: Sendable {
    /// The name as written in the schema.
    public var name: String
    /// For an unsigned underlying type, the bit pattern; for bit flags, already shifted.
    public var value: Int64
    /// The `///` lines above.
    public var documentation: [String] = []
    /// The position of the name.
    public var position: SourcePosition

    /// Creates a value from its parts.
    public init(name: String, value: Int64, position: SourcePosition) {
      self.name = name
      self.value = value
      self.position = position
    }
  }

  /// The full name.
  public var name: QualifiedName
  /// The integer type that values are stored as.
  public var underlying: ScalarType
  /// Whether values are bits that can be combined.
  public var isBitFlags: Bool
  /// The values, in declaration order.
  public var values: [Value]
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
    name: QualifiedName, underlying: ScalarType, isBitFlags: Bool = false, values: [Value] = [],
    position: SourcePosition
  ) {
    self.name = name
    self.underlying = underlying
    self.isBitFlags = isBitFlags
    self.values = values
    self.position = position
  }

  /// The values by number.
  public var ordered: [Value] {
    underlying.isUnsigned
      ? values.sorted { UInt64(bitPattern: $0.value) < UInt64(bitPattern: $1.value) }
      : values.sorted { $0.value < $1.value }
  }

  /// The number of an absent field without a default: 0 if that is a value, or otherwise the
  /// smallest one. What is compiled keeps values by number only, so "the first value" is that one.
  public var impliedDefault: Int64 {
    if isBitFlags || values.contains(where: { $0.value == 0 }) { return 0 }
    return ordered.first?.value ?? 0
  }
}

/// A union. `NONE` (tag 0) is implied and not listed.
public struct UnionDefinition: Sendable {
  /// One member of a union.
  public struct Member: Sendable {
    /// The alias, or the member type's own name without namespace.
    public var name: String
    /// A table, a struct or a string.
    public var type: FieldType
    /// The tag on the wire, 1 to 255.
    public var tag: Int
    /// The `swift_name` of the member's type, if the member has no alias: the case is then named
    /// like the type.
    public var typeName: String?
    /// The `///` lines above.
    public var documentation: [String] = []
    /// The position of the name.
    public var position: SourcePosition

    /// Creates a member from its parts.
    public init(name: String, type: FieldType, tag: Int, position: SourcePosition) {
      self.name = name
      self.type = type
      self.tag = tag
      self.position = position
    }
  }

  /// The full name.
  public var name: QualifiedName
  /// The members, in declaration order.
  public var members: [Member]
  /// The Swift name from `swift_name`, instead of the default rule.
  public var chosenName: String?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration.
  public var documentation: [String] = []
  /// The position of the name.
  public var position: SourcePosition

  /// Creates a definition from its parts; omitted parts are empty.
  public init(name: QualifiedName, members: [Member] = [], position: SourcePosition) {
    self.name = name
    self.members = members
    self.position = position
  }
}
