// Numbers and Bool as properties: inline in their tables, as FlatBuffers scalars.

public import Dflat
public import FlatBuffersRuntime

/// A number or Bool that a table holds inline.
public protocol PersistableScalar: IndexableProperty, QueryValue {
  /// What is stored.
  associatedtype _Stored: FlatBufferScalar & StoredValue
  /// The form that converts to what is stored, if that has another type.
  static var _storedForm: (any StoredForm.Type)? { get }
  /// What is stored for this value.
  var _scalar: _Stored { get }
  /// The bits of what is stored, zero-extended.
  var _bits: UInt64 { get }
  /// The value with a stored form; nil if there is none.
  init?(_scalar: _Stored)
}

extension PersistableScalar {
  /// A scalar.
  public static var _form: PropertyForm {
    PropertyForm(.scalar(_Stored._valueType, default: nil), as: _storedForm, isElement: true)
  }
  /// The scalar.
  public var _constant: Dflat.Value? { _scalar._value }

  /// The bits.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty { .bits(_bits) }

  /// Reads a scalar.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> Self? {
    guard let stored: _Stored = table.scalar(at: field) else { return nil }
    return try reading(stored)
  }

  /// Compares the stored bytes: the lowest one comes first.
  @inlinable
  public static func _precedes(_ left: Self, _ right: Self) -> Bool? {
    left._bits.byteSwapped < right._bits.byteSwapped
  }

  /// Writes a vector of scalars.
  @inlinable
  public static func _writeElements(
    _ values: [Self], to builder: CanonicalBuilder
  ) -> FlatBufferBuilder.Offset { builder.builder.vector(values.map { $0._scalar }) }

  /// Reads a vector of scalars.
  @inlinable
  public static func _readElements(_ table: TableReader, at field: Int) throws -> [Self]? {
    try _readElements(table, at: field) { $0 }
  }

  /// Reads a vector of scalars, and converts each.
  @inlinable
  public static func _readElements<T>(
    _ table: TableReader, at field: Int, _ convert: (Self) throws -> T
  ) throws -> [T]? {
    guard let vector = table.vector(at: field, stride: MemoryLayout<_Stored>.size) else {
      return nil
    }
    var values: [T] = []
    values.reserveCapacity(vector.count)
    for index in 0..<vector.count { values.append(try convert(reading(vector.scalar(index)))) }
    return values
  }

  @inlinable
  static func reading(_ stored: _Stored) throws -> Self {
    if let value = Self(_scalar: stored) { return value }
    throw unreadable(stored)
  }

  @usableFromInline
  static func unreadable(_ stored: _Stored) -> UnreadableValue {
    UnreadableValue("", "is no \(Self.self): \(stored)")
  }
}

extension PersistableScalar where _Stored == Self {
  /// The value itself.
  @inlinable
  public var _scalar: Self { self }
  /// The value itself.
  @inlinable
  public init?(_scalar: Self) { self = _scalar }
  /// nil: the value is stored as it is.
  public static var _storedForm: (any StoredForm.Type)? { nil }
}

extension PersistableScalar where _Stored: FixedWidthInteger {
  /// The bits.
  @inlinable
  public var _bits: UInt64 {
    UInt64(truncatingIfNeeded: _scalar) & (.max >> UInt64(64 - _Stored.bitWidth))
  }
}

extension PersistableScalar where Self: FixedWidthInteger {
  /// Zero.
  @inlinable
  public static var _emptyKey: Self? { 0 }
}

extension Bool: PersistableScalar {
  /// One bit.
  @inlinable
  public var _bits: UInt64 { self ? 1 : 0 }
}
extension Float: PersistableScalar {
  /// The bit pattern.
  @inlinable
  public var _bits: UInt64 { UInt64(bitPattern) }
}
extension Double: PersistableScalar {
  /// The bit pattern.
  @inlinable
  public var _bits: UInt64 { bitPattern }
}
extension Int8: PersistableScalar, PersistableID {}
extension Int16: PersistableScalar, PersistableID {}
extension Int32: PersistableScalar, PersistableID {}
extension Int64: PersistableScalar, PersistableID {}
extension UInt8: PersistableScalar, PersistableID {}
extension UInt16: PersistableScalar, PersistableID {}
extension UInt32: PersistableScalar, PersistableID {}
extension UInt64: PersistableScalar, PersistableID {}

extension Int: PersistableScalar, PersistableID {
  /// As `Int64`.
  public static var _storedForm: (any StoredForm.Type)? { IntForm<Int64>.self }
  /// As `Int64`.
  @inlinable
  public var _scalar: Int64 { Int64(self) }
  /// nil if it does not fit.
  @inlinable
  public init?(_scalar: Int64) { self.init(exactly: _scalar) }
}

/// Stored as `UInt64`.
extension UInt: OrderedStorableValue, PersistableScalar, PersistableID {
  /// As `UInt64`.
  public static var _storedForm: (any StoredForm.Type)? { CustomRepresentation<UInt>.self }
  /// As `UInt64`.
  public var stored: UInt64 { UInt64(self) }
  /// nil if it does not fit.
  public init?(stored: UInt64) { self.init(exactly: stored) }
  /// Zero.
  public static var unreadable: UInt { 0 }
  /// As `UInt64`.
  @inlinable
  public var _scalar: UInt64 { UInt64(self) }
  /// nil if it does not fit.
  @inlinable
  public init?(_scalar: UInt64) { self.init(exactly: _scalar) }
}
