// PersistableProperty: the types of properties, and how each is stored.
//
// A type says how it is stored as a field of a table, and how as an element of a vector. What
// FlatBuffers' vectors cannot contain directly (data, vectors, optionals) is put into a table with
// one slot.

public import Dflat
public import FlatBuffersRuntime

/// A type that properties of stored values may have.
///
/// The standard types conform, and relations; `@PersistableValue` makes a struct or enum conform.
/// Programs do not add conformances of their own.
public protocol PersistableProperty: Sendable {
  /// How a value is stored as a field.
  static var _form: PropertyForm { get }
  /// What an absent field reads as; nil if the field is required.
  static var _absent: Self? { get }
  /// What an absent key reads as; nil if the type cannot be a key.
  static var _emptyKey: Self? { get }
  /// The value as a constant of a layout; nil if layouts cannot hold it.
  var _constant: Dflat.Value? { get }
  /// Whether the type is an enum with a raw value for each case, and has a case with this name.
  static func _hasCase(_ name: String) -> Bool
  /// Writes the part of a field that is outside of its table, and returns the rest.
  func _write(to builder: CanonicalBuilder) -> WrittenProperty
  /// Reads a field; nil if it is absent.
  /// - Throws: `UnreadableValue` if the stored value is none of this type.
  static func _read(_ table: TableReader, at field: Int) throws -> Self?

  /// Whether a value stands before another one where elements have no order of their own; nil if
  /// only their stored bytes tell.
  static func _precedes(_ left: Self, _ right: Self) -> Bool?

  /// Writes a vector.
  static func _writeElements(
    _ values: [Self], to builder: CanonicalBuilder
  ) -> FlatBufferBuilder.Offset
  /// Reads a vector; nil if it is absent.
  /// - Throws: `UnreadableValue` if an element is none of this type.
  static func _readElements(_ table: TableReader, at field: Int) throws -> [Self]?
  /// Reads a vector and converts its elements; nil if it is absent.
  /// - Throws: `UnreadableValue` if an element is none of this type; the errors of `convert`.
  static func _readElements<T>(
    _ table: TableReader, at field: Int, _ convert: (Self) throws -> T
  ) throws -> [T]?
}

/// A type that may be anywhere in stored values, also in collections, structs and enums: each
/// `PersistableProperty` without relations in it.
///
/// Silos follow a relation that is a property of the value itself. The macro knows it by its
/// spelling. A relation that is further inside, or behind a `typealias`, would be stored and never
/// followed, so the compiler refuses it.
public protocol PersistablePart: PersistableProperty {}

extension PersistableProperty {
  /// nil: most fields are required.
  @inlinable
  public static var _absent: Self? { nil }
  /// nil: most types cannot be keys.
  @inlinable
  public static var _emptyKey: Self? { nil }
  /// nil: most types have no constants.
  public var _constant: Dflat.Value? { nil }

  /// false: most types have no cases.
  public static func _hasCase(_ name: String) -> Bool { false }

  /// nil: their bytes tell.
  @inlinable
  public static func _precedes(_ left: Self, _ right: Self) -> Bool? { nil }

  /// Reads the vector, and then converts the elements.
  @inlinable
  public static func _readElements<T>(
    _ table: TableReader, at field: Int, _ convert: (Self) throws -> T
  ) throws -> [T]? {
    try _readElements(table, at: field)?.map(convert)
  }

  // A vector of tables with one slot, which every type can be an element of.

  /// Writes a vector of tables with the values.
  @inlinable
  public static func _writeElements(
    _ values: [Self], to builder: CanonicalBuilder
  ) -> FlatBufferBuilder.Offset {
    let fields = Boxes.fields(of: Self.self)
    return builder.builder.vector(
      values.map { value in builder.table(fields) { $0.write(value) } })
  }

  /// Reads a vector of tables with the values.
  @inlinable
  public static func _readElements(_ table: TableReader, at field: Int) throws -> [Self]? {
    let fields = Boxes.fields(of: Self.self)
    return try table.vector(at: field, stride: 4)?.tables { table in
      try CanonicalReader(table, fields).read(0)
    }
  }
}

extension VectorReader {
  /// The tables of a vector, converted.
  @inlinable
  func tables<T>(_ convert: (TableReader) throws -> T) throws -> [T] {
    try (0..<count).map { index in
      guard let table = table(index) else { throw UnreadableValue(missing: index) }
      do { return try convert(table) } catch { throw UnreadableValue.placed(error, index) }
    }
  }
}

extension UnreadableValue {
  @usableFromInline
  init(missing index: Int) { self.init("\(index)", "is missing") }

  /// The error of an element.
  @usableFromInline
  static func placed(_ error: any Error, _ index: Int) -> any Error {
    guard var error = error as? UnreadableValue else { return error }
    error.property = "\(index)" + (error.property.isEmpty ? "" : "." + error.property)
    return error
  }
}
