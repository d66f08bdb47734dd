// Types, defaults and attributes: the building blocks of definitions.

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

  /// Encoded size in bytes; also the alignment.
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

extension FieldType: CustomStringConvertible {
  /// The type in schema syntax, with full names: `[Blog.Post]`.
  public var description: String {
    switch self {
    case .scalar(let scalar): scalar.rawValue
    case .string: "string"
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name):
      name.description
    case .vector(let element): "[\(element)]"
    case .array(let element, let count): "[\(element):\(count)]"
    }
  }
}

/// The value a scalar, enum or string field has when it is absent.
public enum DefaultValue: Hashable, Sendable {
  /// `= null`: the field is optional.
  case null
  case bool(Bool)
  /// A signed integer, or an enum over one.
  case integer(Int64)
  /// An unsigned integer, or an enum over one (bit flags already shifted and OR-ed).
  case unsigned(UInt64)
  /// A `float` or `double`, including `nan`, `inf` and `-inf`.
  case real(Double)
  case string(String)
}

/// A single `name: value` in an attribute list.
public struct Attribute: Hashable, Sendable {
  /// The attribute's name.
  public var name: String
  /// The value's text without quotes; nil if the attribute has no value.
  public var value: String?

  /// Creates an attribute from its parts.
  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }
}
