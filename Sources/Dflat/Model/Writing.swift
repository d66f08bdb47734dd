// How generated code writes everything except plain scalars and strings.
//
// For absent values the offset is `.none`, which the builder omits, as it omits scalars at their
// defaults.

public import FlatBuffersRuntime

extension FlatBufferBuilder {
  /// A string that is left out when it equals its default.
  @inlinable
  public func string(_ value: String, omitting default: String) -> Offset {
    let isDefault =
      `default`.isEmpty ? value.isEmpty : value.utf8.elementsEqual(`default`.utf8)
    return isDefault ? .none : string(value)
  }

  // Empty vectors are left out unless the schema requires the field.

  /// A vector of strings.
  @inlinable
  public func strings(_ values: [String], required: Bool = false) -> Offset {
    values.isEmpty && !required ? .none : vector(values)
  }

  /// A vector of scalars.
  @inlinable
  public func scalars<T: FlatBufferScalar>(_ values: [T], required: Bool = false) -> Offset {
    values.isEmpty && !required ? .none : vector(values)
  }

  /// A vector of enums.
  @inlinable
  public func enumerations<E: FlatBuffersEnum>(_ values: [E], required: Bool = false) -> Offset {
    values.isEmpty && !required ? .none : vector(values.map { $0.rawValue })
  }

  /// A vector of fixed structs.
  @inlinable
  public func structures<S: FlatBuffersStruct>(_ values: [S], required: Bool = false) -> Offset {
    if values.isEmpty, !required { return .none }
    let layout = S._layout
    for value in values { refuse(value._conversionFailure) }
    return vector(count: values.count, size: layout.size, alignment: layout.alignment) {
      values[$0]._write(to: $1)
    }
  }

  /// A table of a type that may contain itself; nothing for nil.
  @inlinable
  public func table<T: FlatBuffersTable>(_ value: T?) -> Offset {
    guard let value else { return .none }
    return nested { value._encode(to: self) }
  }

  /// A vector of tables.
  @inlinable
  public func tables<T: FlatBuffersTable>(_ values: [T], required: Bool = false) -> Offset {
    if values.isEmpty, !required { return .none }
    return nested { vector(values.map { $0._encode(to: self) }) }
  }

  /// A vector of unions: its tags and its values.
  @inlinable
  public func unions<U: FlatBuffersUnion>(
    _ values: [U], required: Bool = false
  ) -> (tags: Offset, values: Offset) {
    if values.isEmpty, !required { return (.none, .none) }
    var tags = Offset.none
    let values = nested {
      tags = vector(values.map { $0._tag })
      return vector(values.map { $0._encode(to: self) })
    }
    return (tags, values)
  }

  /// A union: its tag and its value; nothing for nil.
  @inlinable
  public func union<U: FlatBuffersUnion>(_ value: U?) -> (tag: UInt8, value: Offset) {
    guard let value else { return (0, .none) }
    let written = nested { value._encode(to: self) }
    return (written == .none ? 0 : value._tag, written)
  }

  /// A fixed struct as a field of the table that is being written; nil is left out.
  @inlinable @inline(__always)
  public func addStructure<S: FlatBuffersStruct>(
    _ value: S?, at field: Int, size: Int, alignment: Int
  ) {
    guard let value else { return }
    refuse(value._conversionFailure)
    addStructure(at: field, size: size, alignment: alignment) {
      value._write(to: $0)
    }
  }

  /// A fixed struct outside of a table, as the value of a union.
  @inlinable
  public func indirectStructure<S: FlatBuffersStruct>(_ value: S) -> Offset {
    let layout = S._layout
    refuse(value._conversionFailure)
    return indirectStructure(size: layout.size, alignment: layout.alignment) {
      value._write(to: $0)
    }
  }
}

extension UnsafeMutableRawPointer {
  /// A scalar of a fixed struct.
  @inlinable
  public func write<T: FlatBufferScalar>(_ value: T, at offset: Int) {
    storeBytes(of: value, toByteOffset: offset, as: T.self)
  }

  /// An enum of a fixed struct.
  @inlinable
  public func write<E: FlatBuffersEnum>(_ value: E, at offset: Int) {
    write(value.rawValue, at: offset)
  }

  /// A struct inside a fixed struct.
  @inlinable
  public func write<S: FlatBuffersStruct>(_ value: S, at offset: Int) {
    value._write(to: self + offset)
  }

  /// A fixed-size array of scalars. Missing elements stay zero. Surplus elements are not written;
  /// a value that has any is refused (`_conversionFailure`).
  @inlinable
  public func write<T: FlatBufferScalar>(_ values: [T], at offset: Int, count: Int) {
    for (index, value) in values.prefix(count).enumerated() {
      write(value, at: offset + index * MemoryLayout<T>.size)
    }
  }

  /// A fixed-size array of enums.
  @inlinable
  public func write<E: FlatBuffersEnum>(_ values: [E], at offset: Int, count: Int) {
    for (index, value) in values.prefix(count).enumerated() {
      write(value, at: offset + index * MemoryLayout<E.RawValue>.size)
    }
  }

  /// A fixed-size array of structs.
  @inlinable
  public func write<S: FlatBuffersStruct>(_ values: [S], at offset: Int, count: Int) {
    for (index, value) in values.prefix(count).enumerated() {
      write(value, at: offset + index * S._layout.size)
    }
  }
}
