// How generated code reads everything except plain scalars and strings.
//
// The requested type selects the function. Reading never fails: absent, malformed and unknown
// values read as nil, as the default, or as an empty array.

public import FlatBuffersRuntime

extension TableReader {
  /// An enum. An unknown stored value reads as the default.
  @inlinable
  public func enumeration<E: FlatBuffersEnum>(at field: Int, default: E) -> E {
    guard let raw: E.RawValue = scalar(at: field) else { return `default` }
    return E(rawValue: raw) ?? `default`
  }

  /// An optional enum. An unknown stored value reads as nil.
  @inlinable
  public func enumeration<E: FlatBuffersEnum>(at field: Int) -> E? {
    guard let raw: E.RawValue = scalar(at: field) else { return nil }
    return E(rawValue: raw)
  }

  /// A fixed struct.
  @inlinable
  public func structure<S: FlatBuffersStruct>(at field: Int) -> S? {
    structure(at: field, size: S._layout.size).map { S($0) }
  }

  /// A nested table.
  @inlinable
  public func table<T: FlatBuffersTable>(at field: Int) -> T? {
    guard let table: TableReader = table(at: field) else { return nil }
    return T(table)
  }

  /// The union whose value is at `field`; nil if it is empty or its tag unknown.
  @inlinable
  public func union<U: FlatBuffersUnion>(at field: Int) -> U? {
    unionReader(at: field).flatMap { U($0) }
  }

  @inlinable
  func unionReader(at field: Int) -> UnionReader? {
    let tag = scalar(at: field - 2, default: UInt8(0))
    guard tag != 0 else { return nil }
    let position = locate(field, size: 4)
    guard position > 0 else { return nil }
    return UnionReader(tag: tag, in: self, at: position)
  }

  /// A vector of scalars.
  @inlinable
  public func scalars<T: FlatBufferScalar>(at field: Int) -> [T] {
    vector(at: field, stride: MemoryLayout<T>.size)?.scalars() ?? []
  }

  /// A vector of strings.
  @inlinable
  public func strings(at field: Int) -> [String] {
    vector(at: field, stride: 4)?.strings() ?? []
  }

  /// A vector of enums. An unknown element reads as the enum's value 0, or as its first one.
  @inlinable
  public func enumerations<E: FlatBuffersEnum>(at field: Int) -> [E] {
    guard let vector = vector(at: field, stride: MemoryLayout<E.RawValue>.size) else { return [] }
    return (0..<vector.count).compactMap { index in
      let raw: E.RawValue = vector.scalar(index)
      return E(rawValue: raw) ?? E._fallback
    }
  }

  /// A vector of fixed structs.
  @inlinable
  public func structures<S: FlatBuffersStruct>(at field: Int) -> [S] {
    guard let vector = vector(at: field, stride: S._layout.size) else { return [] }
    return (0..<vector.count).map { S(vector.structure($0)) }
  }

  /// A vector of tables.
  @inlinable
  public func tables<T: FlatBuffersTable>(at field: Int) -> [T] {
    guard let vector = vector(at: field, stride: 4) else { return [] }
    return (0..<vector.count).compactMap { vector.table($0).map { T($0) } }
  }

  /// A vector of unions; empty elements and unknown tags are dropped.
  @inlinable
  public func unions<U: FlatBuffersUnion>(at field: Int) -> [U] {
    guard let tags = vector(at: field - 2, stride: 1), let values = vector(at: field, stride: 4)
    else { return [] }
    return (0..<Swift.min(tags.count, values.count)).compactMap { index in
      U(UnionReader(tag: tags.scalar(index), in: self, at: values.position(of: index)))
    }
  }
}

extension TableReader {
  /// Calls `body` with a table that has no fields.
  static func withEmpty<R>(_ body: (TableReader) -> R) -> R {
    // The offset of the root table, its vtable of two sizes, and the table's offset to the vtable.
    let words: [UInt32] = [8, 0x0004_0004, 4]
    return words.withUnsafeBytes { bytes in
      guard let table = TableReader(root: bytes) else {
        preconditionFailure("a table without fields can be read")
      }
      return body(table)
    }
  }
}

extension StructReader {
  /// An enum. An unknown stored value reads as the enum's value 0, or as its first one.
  @inlinable
  public func enumeration<E: FlatBuffersEnum>(at offset: Int, default: E) -> E {
    E(rawValue: scalar(at: offset)) ?? `default`
  }

  /// A struct inside this one.
  @inlinable
  public func structure<S: FlatBuffersStruct>(at offset: Int) -> S {
    S(structure(at: offset, size: S._layout.size))
  }

  /// A fixed-size array of scalars.
  @inlinable
  public func scalars<T: FlatBufferScalar>(at offset: Int, count: Int) -> [T] {
    (0..<count).map { scalar(at: offset + $0 * MemoryLayout<T>.size) }
  }

  /// A fixed-size array of enums.
  @inlinable
  public func enumerations<E: FlatBuffersEnum>(at offset: Int, count: Int) -> [E] {
    (0..<count).compactMap {
      E(rawValue: scalar(at: offset + $0 * MemoryLayout<E.RawValue>.size)) ?? E._fallback
    }
  }

  /// A fixed-size array of structs.
  @inlinable
  public func structures<S: FlatBuffersStruct>(at offset: Int, count: Int) -> [S] {
    (0..<count).map { structure(at: offset + $0 * S._layout.size) }
  }
}

extension FlatBuffersEnum {
  /// The value that an unknown element reads as if there is no field default: 0, or the first
  /// value.
  @inlinable
  public static var _fallback: Self? {
    Self(rawValue: 0)
      ?? _layout.values.first.flatMap { Self(rawValue: RawValue(truncatingIfNeeded: $0.value)) }
  }
}
