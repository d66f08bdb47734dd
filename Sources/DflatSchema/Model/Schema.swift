// What a set of .fbs files means, after parsing and resolving.
//
// The model is plain data. It keeps true:
//
//  - every type that a field, union or array mentions is in `Schema.types`;
//  - slots, vtable offsets, struct offsets, sizes and alignments are final: nobody downstream computes them again;
//  - defaults are literals of the field's own type, already checked and in range.
//
// Order is that of the source wherever a user can see it.

/// A compiled schema: the file that was asked for and everything it includes.
public struct Schema: Sendable {
  /// The files, the one that was asked for first, then the included ones in order of first inclusion.
  public var files: [SchemaFile]
  /// Every type of every file.
  public var types: [QualifiedName: TypeDefinition]

  public init(files: [SchemaFile] = [], types: [QualifiedName: TypeDefinition] = [:]) {
    self.files = files
    self.types = types
  }
}

/// What one file declares.
public struct SchemaFile: Sendable {
  /// The path as it was opened.
  public var path: String
  /// The types declared in this file (not in its includes), in source order.
  public var types: [QualifiedName]
  /// The table named by this file's `root_type`, if the table is declared in this very file.
  public var root: QualifiedName?
  public var fileIdentifier: String?
  public var fileExtension: String?

  public init(
    path: String, types: [QualifiedName] = [], root: QualifiedName? = nil,
    fileIdentifier: String? = nil, fileExtension: String? = nil
  ) {
    self.path = path
    self.types = types
    self.root = root
    self.fileIdentifier = fileIdentifier
    self.fileExtension = fileExtension
  }
}

/// A type's name with its namespace.
public struct QualifiedName: Hashable, Sendable, CustomStringConvertible {
  public var namespace: [String]
  public var name: String

  public init(namespace: [String] = [], name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The dotted form that schemas use.
  public var description: String { (namespace + [name]).joined(separator: ".") }
}

/// A place in a source file; lines and columns count from 1, columns in bytes.
public struct SourcePosition: Hashable, Sendable {
  public var file: String
  public var line: Int
  public var column: Int

  public init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }
}

/// A declared type.
public enum TypeDefinition: Sendable {
  case enumeration(EnumDefinition)
  case structure(StructDefinition)
  case table(TableDefinition)
  case union(UnionDefinition)
}

/// The scalar types of the wire format.
public enum ScalarType: String, CaseIterable, Sendable {
  case bool, byte, ubyte, short, ushort, int, uint, long, ulong, float, double

  /// Bytes on the wire; also the alignment.
  public var size: Int {
    switch self {
    case .bool, .byte, .ubyte: 1
    case .short, .ushort: 2
    case .int, .uint, .float: 4
    case .long, .ulong, .double: 8
    }
  }
}

/// The type of a field, an element or a union member.
public indirect enum FieldType: Hashable, Sendable {
  case scalar(ScalarType)
  case string
  case enumeration(QualifiedName)
  case structure(QualifiedName)
  case table(QualifiedName)
  case union(QualifiedName)
  case vector(FieldType)
  /// Only inside fixed structs.
  case array(FieldType, count: Int)
}

/// The value a scalar, enum or string field has when it is absent.
public enum DefaultValue: Hashable, Sendable {
  /// `= null`: the field is optional.
  case null
  case bool(Bool)
  /// Any signed integer type and enums over one.
  case integer(Int64)
  /// Any unsigned integer type and enums over one (bit flags already shifted and OR-ed).
  case unsigned(UInt64)
  /// `float` and `double`; `nan`, `inf` and `-inf` as such.
  case real(Double)
  case string(String)
}

/// One `name: value` of an attribute list.
public struct Attribute: Hashable, Sendable {
  public var name: String
  /// The value's text without quotes; nil when the attribute stands alone.
  public var value: String?

  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }
}

/// A field of a table or fixed struct.
public struct FieldDefinition: Sendable {
  public var name: String
  public var type: FieldType
  /// The explicit or implied default of a scalar or enum; an explicit default of a string; nil for
  /// everything else and for fields of structs.
  public var defaultValue: DefaultValue?
  /// In a table: the vtable offset, `4 + 2 × slot` (of a union or a vector of unions: the value's; the tag's is two less).
  /// In a struct: the byte offset.
  public var offset: Int
  public var isDeprecated = false
  public var isRequired = false
  public var isPrimary = false
  public var isIndexed = false
  /// Implies `isIndexed`.
  public var isUnique = false
  /// All attributes as written, for those who want more.
  public var attributes: [Attribute] = []
  /// The `///` lines above the declaration, without the slashes and one leading blank.
  public var documentation: [String] = []
  public var position: SourcePosition

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
  public var name: QualifiedName
  public var fields: [FieldDefinition]
  /// Slots in the vtable, deprecated ones and union tags included.
  public var slotCount: Int
  /// The `v` attribute.
  public var version: String?
  public var attributes: [Attribute] = []
  public var documentation: [String] = []
  public var position: SourcePosition

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
  public var name: QualifiedName
  public var fields: [FieldDefinition]
  public var size: Int
  public var alignment: Int
  public var version: String?
  public var attributes: [Attribute] = []
  public var documentation: [String] = []
  public var position: SourcePosition

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

/// An enum. Values are in declaration order.
public struct EnumDefinition: Sendable {
  public struct Value: Sendable {
    public var name: String
    /// For an unsigned underlying type, the bit pattern; for bit flags, already shifted.
    public var value: Int64
    public var documentation: [String] = []
    public var position: SourcePosition

    public init(name: String, value: Int64, position: SourcePosition) {
      self.name = name
      self.value = value
      self.position = position
    }
  }

  public var name: QualifiedName
  public var underlying: ScalarType
  public var isBitFlags: Bool
  public var values: [Value]
  public var attributes: [Attribute] = []
  public var documentation: [String] = []
  public var position: SourcePosition

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
  public struct Member: Sendable {
    /// The alias, or the member type's own name without namespace.
    public var name: String
    /// A table, a struct or a string.
    public var type: FieldType
    public var tag: Int
    public var documentation: [String] = []
    public var position: SourcePosition

    public init(name: String, type: FieldType, tag: Int, position: SourcePosition) {
      self.name = name
      self.type = type
      self.tag = tag
      self.position = position
    }
  }

  public var name: QualifiedName
  public var members: [Member]
  public var attributes: [Attribute] = []
  public var documentation: [String] = []
  public var position: SourcePosition

  public init(name: QualifiedName, members: [Member] = [], position: SourcePosition) {
    self.name = name
    self.members = members
    self.position = position
  }
}
