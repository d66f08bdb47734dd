// Atom: an entity, a typed view of a row.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import FlatBuffersRuntime

/// An object that a workspace stores: the generated type of a schema's `root_type`.
///
/// An atom is an immutable value that wraps the bytes of its row. Fetched atoms may be used on any
/// thread. Conformances are generated; programs use `Atom` as a constraint.
public protocol Atom: FlatBuffersTable, Identifiable, CustomStringConvertible
where ID: PrimaryKey {
  var _row: Row { get }
  init(_row: Row)
  static var _schema: EntitySchema { get }
  /// The generated change request, whose fields `with` and `update` set.
  associatedtype _Draft: ChangeRequest where _Draft.Element == Self
}

extension Atom {
  /// The row id in the storage; −1 until the object is stored. Row ids are never reused for another
  /// object.
  @inlinable
  public var _rowid: Int64 { _row.id }

  /// The workspace's clock when the object was read; −1 for objects that were not fetched.
  @inlinable
  public var _changesTimestamp: Int64 { _row.timestamp }

  /// The layout of the fields, for Dflat.
  @inlinable
  public static var _layout: TableLayout { _schema.layout }

  /// Reads a finished FlatBuffers buffer.
  ///
  /// Never fails: if the bytes are not a sound buffer of this type, every field of the object reads
  /// as its default. `init(verifying:)` reports what is wrong instead.
  public static func from(data: Data) -> Self {
    if let object = try? Self(verifying: data) { return object }
    return Self(_row: Row { builder in _layout.write(to: builder) { _ in .none } })
  }

  /// Reads a finished FlatBuffers buffer.
  /// - Throws: `VerificationError` if the bytes are not a sound buffer of this type.
  public init(verifying data: Data) throws(VerificationError) {
    self.init(_row: try Self._layout.readingVerified(data) { _, bytes in Row(sound: bytes) })
  }

  /// The object's own bytes: a finished FlatBuffers buffer without size prefix or file identifier.
  /// It contains the strings of the primary key even if they are empty and the program that created
  /// the object left them out. They are empty, which is no buffer, if the object was made from
  /// values that need more than 2 GiB - 1 bytes.
  public func toData() -> Data {
    // Nothing is kept of such values.
    if _row.refusal != nil, _row.read({ $0.vtableSize <= 4 }) { return Data() }
    return _row.withKeyTexts(as: Self._layout) { Data($0) }
  }

  /// Copies a nested table into a row of its own.
  public init(_ table: TableReader) {
    self.init(
      _row: BuilderPool.withBuilder { builder in
        builder.finish(Self._layout.copy(table, to: builder))
        return Row(sound: builder.bytes)
      })
  }

  /// Writes the object as a nested table.
  public func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset {
    if let refusal = _row.refusal { builder.refuse(refusal) }
    return _row.read { Self._layout.copy($0, to: builder) }
  }

  /// Compares all data fields by value; the row id and the clock value are ignored.
  @inlinable
  public static func == (lhs: Self, rhs: Self) -> Bool {
    // The layout is constant and rarely needed: most equal rows are equal without it.
    lhs._row.equals(rhs._row) { Unmanaged.passUnretained(_layout) }
  }

  /// Whether this is the same stored object with the same contents.
  @inlinable
  func isSameState(as other: Self) -> Bool { _rowid == other._rowid && self == other }

  /// Hashes the fields that `==` compares.
  public func hash(into hasher: inout Hasher) {
    _row.read { Self._layout.hash($0, into: &hasher) }
  }

  /// The fields by name.
  ///
  /// If the entity has a field of this name, the field takes precedence.
  @_disfavoredOverload
  public var description: String { _description }

  /// Why a value that the object was created with does not fit its field; nil if all fit.
  public var _refusal: String? { _row.refusal }

  /// Encodes the fields under the schema's names.
  public func encode(to encoder: any Encoder) throws {
    try requireFit(encoder.codingPath)
    let result = _row.read { table in Result { try Self._layout.encode(table, to: encoder) } }
    try result.get()
  }

  /// Decodes fields by the schema's names. Missing fields have their defaults, but primary keys are
  /// required.
  public init(from decoder: any Decoder) throws {
    self.init(_row: try Row(from: decoder, of: Self._schema))
  }
}

extension TableLayout {
  /// The property of the root table that a field reads; nil for nested fields.
  func property(storedAs field: FieldDescriptor) -> Property? {
    switch field.leaf {
    case .scalar(let offset), .string(let offset): property(at: offset)
    default: nil
    }
  }
}

/// A primary key of several fields, in declaration order.
///
/// Two keys are equal if the storage considers them equal: strings compare by their UTF-8 bytes and
/// not, like `String`, by canonical equivalence.
public struct CompositeKey<each Part: Hashable & Sendable>: Hashable, Sendable {
  /// The fields of the key.
  public let parts: (repeat each Part)

  /// Creates a key from its parts.
  public init(_ parts: repeat each Part) {
    self.parts = (repeat each parts)
  }

  /// Compares field by field.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    for (left, right) in repeat (each lhs.parts, each rhs.parts) {
      if !isSamePart(left, right) { return false }
    }
    return true
  }

  /// Hashes the parts that `==` compares.
  public func hash(into hasher: inout Hasher) {
    for part in repeat each parts { hash(part: part, into: &hasher) }
  }

  private static func isSamePart<P: Hashable>(_ left: P, _ right: P) -> Bool {
    if let left = left as? String, let right = right as? String {
      return left.utf8.elementsEqual(right.utf8)
    }
    return left == right
  }

  private func hash<P: Hashable>(part: P, into hasher: inout Hasher) {
    guard var text = part as? String else { return hasher.combine(part) }
    hasher.combine(text.utf8.count)
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
