// Enums and unions: types that are one of several things.

/// An enum. Values are in declaration order.
public struct EnumDefinition: Sendable {
  /// One value of an enum.
  public struct Value: Sendable {
    /// The name as the schema has it.
    public var name: String
    /// For an unsigned underlying type, the bit pattern; for bit flags, already shifted.
    public var value: Int64
    /// The `///` lines above.
    public var documentation: [String] = []
    /// Where the name stands.
    public var position: SourcePosition

    /// Makes it from its parts.
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
    name: QualifiedName, underlying: ScalarType, isBitFlags: Bool = false, values: [Value] = [],
    position: SourcePosition
  ) {
    self.name = name
    self.underlying = underlying
    self.isBitFlags = isBitFlags
    self.values = values
    self.position = position
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
    /// What `swift_name` says of the member's type, if the member has no alias: the case is called like the type.
    public var typeName: String?
    /// The `///` lines above.
    public var documentation: [String] = []
    /// Where the name stands.
    public var position: SourcePosition

    /// Makes it from its parts.
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
  /// `swift_name`: the name in Swift, in place of what the rule gives.
  public var chosenName: String?
  /// All attributes as written.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration.
  public var documentation: [String] = []
  /// Where the name stands.
  public var position: SourcePosition

  /// Makes a definition from its parts; what is not given is empty.
  public init(name: QualifiedName, members: [Member] = [], position: SourcePosition) {
    self.name = name
    self.members = members
    self.position = position
  }
}
