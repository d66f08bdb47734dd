// The values of conditions, orders, keys and indexes.
//
// Internally every operand is a `Value` together with a `ValueType`. A value has the widest
// representation of its family; the type determines its range and how it is compared.

// Lets programs compare conditions on `Bool` fields with `<`.
@_exported public import StandardConformances

/// The type of a field or expression for evaluation and storage.
@frozen
public enum ValueType: UInt8, Sendable, Hashable {
  case bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double, string

  /// The size in bytes in a buffer; 0 for strings.
  @inlinable package var size: Int {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double: 8
    case .string: 0
    }
  }
}

/// A constant of some `ValueType`.
///
/// All integers except `UInt64` are `integer`; a `Float` is widened, which is exact.
@frozen
public enum Value: Sendable {
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  case string(String)
}
