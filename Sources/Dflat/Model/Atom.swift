// Atom: an entity, a typed view of a row.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import FlatBuffersRuntime

/// An object that a workspace stores: the generated type of a schema's `root_type`.
///
/// An atom is an immutable value over the bytes of its row. Fetched atoms may be handed to any thread. Conformances are
/// generated; programs use `Atom` as a constraint.
public protocol Atom: FlatBuffersTable, Identifiable, CustomStringConvertible
where ID: PrimaryKey {
  var _row: Row { get }
  init(_row: Row)
  static var _schema: EntitySchema { get }
  /// What an object is changed with.
  associatedtype _Draft: ChangeRequest where _Draft.Element == Self
}

extension Atom {
  /// The row id in the storage; −1 until the object is stored. It is never used again for another object.
  @inlinable
  public var _rowid: Int64 { _row.id }

  /// The workspace's clock when the object was read; −1 for objects that were not fetched.
  @inlinable
  public var _changesTimestamp: Int64 { _row.timestamp }

  /// Where the fields lie, for Dflat.
  @inlinable
  public static var _layout: TableLayout { _schema.layout }

  /// Reads a finished FlatBuffers buffer.
  ///
  /// Never fails: bytes that are not a sound buffer of this type give an object with every field at its default. Use
  /// `init(verifying:)` to learn what is wrong with them.
  public static func from(data: Data) -> Self {
    if let object = try? Self(verifying: data) { return object }
    return Self(_row: Row { builder in _layout.write(to: builder) { _ in .none } })
  }

  /// Reads a finished FlatBuffers buffer.
  /// - Throws: `VerificationError` that says what is wrong with the bytes.
  public init(verifying data: Data) throws(VerificationError) {
    self.init(_row: try Self._layout.readingVerified(data) { _, bytes in Row(sound: bytes) })
  }

  /// The object's own bytes: a finished FlatBuffers buffer without size prefix or file identifier.
  /// The strings of the primary key are in it, also where others have made the object without those
  /// that are empty.
  public func toData() -> Data {
    _row.withKeyTexts(as: Self._layout) { Data($0) }
  }

  /// A nested table, copied into a row of its own.
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

  /// By value of all data fields; row id and clock value do not count.
  @inlinable
  public static func == (lhs: Self, rhs: Self) -> Bool {
    // The layout is a constant of the program; most rows that are equal are so without it.
    lhs._row.equals(rhs._row) { Unmanaged.passUnretained(_layout) }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    _row.read { Self._layout.hash($0, into: &hasher) }
  }

  /// The fields by name.
  ///
  /// Where an entity has a field of this name, the field comes first.
  @_disfavoredOverload
  public var description: String { _description }

  /// Why a value that the object was made with does not fit its field; nil if all do.
  public var _refusal: String? { _row.refusal }

  /// Encodes the fields under the schema's names.
  public func encode(to encoder: any Encoder) throws {
    try requireFit(encoder.codingPath)
    let result = _row.read { table in Result { try Self._layout.encode(table, to: encoder) } }
    try result.get()
  }

  /// Decodes from the schema's names; what is missing has its default, but primary keys must be there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    let schema = Self._schema
    for field in schema.primaryKey {
      guard let name = schema.layout.property(storedAs: field)?.name,
        container.contains(AnyKey(name)) == false
      else { continue }
      throw DecodingError.keyNotFound(
        AnyKey(name),
        DecodingError.Context(
          codingPath: container.codingPath,
          debugDescription: "\(schema.layout.name) has the primary key \(name)"))
    }
    self.init(
      _row: try BuilderPool.withBuilder { builder in
        builder.finish(try schema.layout.decode(from: decoder, to: builder))
        return Row(sound: builder.bytes)
      })
  }
}

extension TableLayout {
  /// The property of this very table that a field reads.
  func property(storedAs field: FieldDescriptor) -> Property? {
    switch field.leaf {
    case .scalar(let offset), .string(let offset): property(at: offset)
    default: nil
    }
  }
}

/// A primary key of several fields, in declaration order.
///
/// Two keys are equal if the storage takes them for the same: strings compare by their UTF-8 bytes and not, as `String` does, by
/// what they look like.
public struct CompositeKey<each Part: Hashable & Sendable>: Hashable, Sendable {
  /// The fields of the key.
  public let parts: (repeat each Part)

  /// A key of these parts.
  public init(_ parts: repeat each Part) {
    self.parts = (repeat each parts)
  }

  /// Field by field.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    for (left, right) in repeat (each lhs.parts, each rhs.parts) {
      if !isSamePart(left, right) { return false }
    }
    return true
  }

  /// Hashes what `==` compares.
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
