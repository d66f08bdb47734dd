// Schema scalar types in Swift.

import DflatSchema

extension ScalarType {
  /// The type of the standard library.
  var swiftName: String {
    switch self {
    case .bool: "Bool"
    case .byte: "Int8"
    case .ubyte: "UInt8"
    case .short: "Int16"
    case .ushort: "UInt16"
    case .int: "Int32"
    case .uint: "UInt32"
    case .long: "Int64"
    case .ulong: "UInt64"
    case .float: "Float"
    case .double: "Double"
    }
  }

  /// The case of `ValueType`.
  var valueType: String {
    switch self {
    case .float: ".float"
    case .double: ".double"
    default: "." + swiftName.lowercased()
    }
  }

  var isUnsigned: Bool {
    switch self {
    case .ubyte, .ushort, .uint, .ulong: true
    default: false
    }
  }

  /// The default of a field without a written default.
  var zero: DefaultValue {
    switch self {
    case .bool: .bool(false)
    case .float, .double: .real(0)
    default: isUnsigned ? .unsigned(0) : .integer(0)
    }
  }
}

extension DefaultValue {
  /// The raw value of an enum's default as the bit pattern that layouts use.
  var bitPattern: Int64? {
    switch self {
    case .integer(let value): value
    case .unsigned(let value): Int64(bitPattern: value)
    case .null, .bool, .real, .string: nil
    }
  }

  /// The value as an expression of a scalar type.
  func expression(as type: ScalarType) -> String {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): Literal.real(value, isFloat: type == .float)
    case .null, .string: "nil"
    }
  }

  /// The value as an expression of `Dflat.Value`.
  func layoutExpression(as type: ScalarType) -> String {
    switch (self, type) {
    case (.bool(let value), _): ".bool(\(value))"
    case (.integer(let value), .ulong): ".unsigned(\(UInt64(bitPattern: value)))"
    case (.integer(let value), _): ".integer(\(value))"
    case (.unsigned(let value), .ulong): ".unsigned(\(value))"
    case (.unsigned(let value), _): ".integer(\(value))"
    case (.real(let value), _): ".real(\(Literal.real(value, isFloat: false)))"
    case (.null, _), (.string, _): "nil"
    }
  }
}

extension EnumDefinition {
  /// A raw value as a literal of the underlying type.
  func literal(_ value: Int64) -> String {
    underlying.isUnsigned ? "\(UInt64(bitPattern: value))" : "\(value)"
  }
}
