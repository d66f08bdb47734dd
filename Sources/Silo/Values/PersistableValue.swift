// PersistableValue: structs and enums inside stored values.

public import Dflat
public import FlatBuffersRuntime

/// A struct, or an enum with associated values, that stored values contain. `@PersistableValue`
/// makes the conformance.
public protocol PersistableStruct: PersistablePart {
  /// The properties, for Silo.
  static var _fields: CanonicalFields { get }
  /// The slots of the properties, for the names in conditions.
  static var _slots: [PartialKeyPath<Self>: Int] { get }
  /// Writes the properties in the order of their slots, for Silo.
  func _write(to writer: inout CanonicalWriter)
  /// Reads the properties, for Silo.
  /// - Throws: `UnreadableValue`.
  init(_reading reader: CanonicalReader) throws
}

extension PersistableStruct {
  /// A table.
  public static var _form: PropertyForm { PropertyForm(.table { _fields.layout }, isElement: true) }
  /// No names: an enum has no properties.
  public static var _slots: [PartialKeyPath<Self>: Int] { [:] }

  /// Writes a table.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    .offset(builder.table(Self._fields) { _write(to: &$0) })
  }

  /// Reads a table.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> Self? {
    guard let table: TableReader = table.table(at: field) else { return nil }
    return try Self(_reading: CanonicalReader(table, _fields))
  }

  /// Writes a vector of tables.
  @inlinable
  public static func _writeElements(
    _ values: [Self], to builder: CanonicalBuilder
  ) -> FlatBufferBuilder.Offset {
    builder.builder.vector(
      values.map { value in builder.table(_fields) { value._write(to: &$0) } })
  }

  /// Reads a vector of tables.
  @inlinable
  public static func _readElements(_ table: TableReader, at field: Int) throws -> [Self]? {
    try table.vector(at: field, stride: 4)?.tables {
      try Self(_reading: CanonicalReader($0, _fields))
    }
  }
}

/// An enum without associated values, and without strings or integers as raw values, that stored
/// values contain. `@PersistableValue` makes the conformance.
///
/// Stored are the names of the cases. One that the enum does not have cannot be read.
public protocol PersistableCaseEnum: PersistableStruct, PersistableKey {}

/// An enum with strings as raw values that stored values contain. `@PersistableValue` makes the
/// conformance.
///
/// Stored are the raw values. One that the enum does not have cannot be read.
public protocol PersistableTextEnum: PersistableText, PersistableKey, StorableValue,
  RawRepresentable
where RawValue == String, Stored == String {}

extension PersistableTextEnum {
  /// The raw value.
  public static var _storedForm: (any StoredForm.Type)? { CustomRepresentation<Self>.self }
  /// The raw value.
  @inlinable
  public var _text: String { rawValue }
  /// nil if the enum has no such raw value.
  @inlinable
  public init?(_text: String) { self.init(rawValue: _text) }
}

/// An enum with integers as raw values that stored values contain. `@PersistableValue` makes the
/// conformance.
///
/// Stored are the raw values. One that the enum does not have cannot be read.
public protocol PersistableNumberEnum: PersistableScalar, PersistableKey, StorableValue,
  RawRepresentable
where RawValue: PersistableScalar & FixedWidthInteger, Stored == RawValue._Stored, _Stored == Stored
{}

extension PersistableNumberEnum {
  /// The raw value.
  public static var _storedForm: (any StoredForm.Type)? { CustomRepresentation<Self>.self }
  /// The raw value.
  @inlinable
  public var _scalar: RawValue._Stored { rawValue._scalar }
  /// The bits of the raw value.
  @inlinable
  public var _bits: UInt64 { rawValue._bits }
  /// nil if the enum has no such raw value.
  @inlinable
  public init?(_scalar: RawValue._Stored) {
    guard let raw = RawValue(_scalar: _scalar) else { return nil }
    self.init(rawValue: raw)
  }
  /// The raw value.
  public var stored: RawValue._Stored { rawValue._scalar }
  /// nil if the enum has no such raw value.
  public init?(stored: RawValue._Stored) { self.init(_scalar: stored) }
}
