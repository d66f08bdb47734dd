// LayoutValue: a field's value as a layout describes it, read in place.
//
// Comparison, hashing, JSON, descriptions and copying share it: they ask a reader for the value of
// a property and switch over the result. Values have the same meaning as the Swift properties of
// generated types: an absent scalar is its default, an unknown enum value the field's default, an
// unknown union tag an empty union.

import FlatBuffersRuntime

/// A value in a buffer, valid as long as the buffer.
enum LayoutValue {
  case null
  case scalar(ValueType, Value)
  case enumeration(EnumLayout, Int64)
  case string(UnsafeRawBufferPointer)
  /// The default of a string field, which is not in the buffer.
  case defaultString(String)
  case structure(StructLayout, StructReader)
  case table(TableLayout, TableReader)
  case union(UnionLayout.Member, UnionReader)
  case vector(LayoutElements)
}

/// The elements of a vector, or of a fixed-size array.
struct LayoutElements {
  enum Storage {
    case vector(VectorReader)
    /// The tags, the values, and any table of the buffer.
    case unions(VectorReader, VectorReader, TableReader)
    case array(StructReader, offset: Int, count: Int)
    case none
  }

  let kind: Property.Kind
  let storage: Storage

  var count: Int {
    switch storage {
    case .vector(let vector): vector.count
    case .unions(let tags, let values, _): Swift.min(tags.count, values.count)
    case .array(_, _, let count): count
    case .none: 0
    }
  }

  /// `.null` for an element that cannot be read: an empty union, or an offset outside of the
  /// buffer.
  subscript(index: Int) -> LayoutValue {
    switch storage {
    case .none: return .null
    case .array(let structure, let offset, _):
      return structure.value(kind, at: offset + index * kind.inlineSize)
    case .unions(let tags, let values, let table):
      guard case .union(let layout) = kind else { return .null }
      return UnionReader(tag: tags.scalar(index), in: table, at: values.position(of: index))
        .value(in: layout())
    case .vector(let vector):
      switch kind {
      case .scalar, .enumeration, .structure:
        return vector.structure(index).value(kind, at: 0)
      case .string: return vector.utf8(index).map { .string($0) } ?? .null
      case .table(let layout): return vector.table(index).map { .table(layout(), $0) } ?? .null
      case .union, .vector, .array: return .null
      }
    }
  }
}

extension Property.Kind {
  /// The inline size of a value in a struct, vector or table; 4 for an offset.
  var inlineSize: Int {
    switch self {
    case .scalar(let type, _): type.size
    case .enumeration(let layout, _): layout().type.size
    case .structure(let layout): layout().size
    case .array(let kind, let count): kind.inlineSize * count
    case .string, .table, .union, .vector: 4
    }
  }
}

extension TableReader {
  func value(of property: Property) -> LayoutValue {
    let field = property.offset
    switch property.kind {
    case .scalar(let type, let value):
      let position = locate(field, size: type.size)
      if position > 0 { return .scalar(type, scalar(type, at: position)) }
      return value.map { .scalar(type, $0) } ?? .null
    case .enumeration(let layout, let value):
      let layout = layout()
      let position = locate(field, size: layout.type.size)
      if position > 0 {
        let raw = integer(layout.type, at: position)
        if layout.knows(raw) { return .enumeration(layout, raw) }
      }
      return value.map { .enumeration(layout, $0) } ?? .null
    case .string(let value):
      return utf8(at: field).map { .string($0) } ?? value.map { .defaultString($0) } ?? .null
    case .structure(let layout):
      let layout = layout()
      return structure(at: field, size: layout.size).map { .structure(layout, $0) } ?? .null
    case .table(let layout):
      guard let table: TableReader = table(at: field) else { return .null }
      return .table(layout(), table)
    case .union(let layout):
      return unionReader(at: field)?.value(in: layout()) ?? .null
    case .vector(.union(let layout)):
      guard let tags = vector(at: field - 2, stride: 1), let values = vector(at: field, stride: 4)
      else { return .vector(LayoutElements(kind: .union(layout), storage: .none)) }
      return .vector(LayoutElements(kind: .union(layout), storage: .unions(tags, values, self)))
    case .vector(let kind):
      let vector = vector(at: field, stride: kind.inlineSize)
      if vector == nil, property.isExact { return .null }
      return .vector(
        LayoutElements(kind: kind, storage: vector.map { .vector($0) } ?? .none))
    case .array: return .null
    }
  }

  fileprivate func scalar(_ type: ValueType, at position: Int) -> Value {
    switch type {
    case .bool: .bool(integer(type, at: position) != 0)
    case .uint64: .unsigned(UInt64(bitPattern: integer(type, at: position)))
    case .float, .double: .real(real(type, at: position))
    default: .integer(integer(type, at: position))
    }
  }
}

extension StructReader {
  func value(of property: Property) -> LayoutValue { value(property.kind, at: property.offset) }

  func value(_ kind: Property.Kind, at offset: Int) -> LayoutValue {
    switch kind {
    case .scalar(let type, _): return .scalar(type, scalar(type, at: offset))
    case .enumeration(let layout, let value):
      let layout = layout()
      let raw = integer(layout.type, at: offset)
      if layout.knows(raw) { return .enumeration(layout, raw) }
      let others = value ?? (layout.knows(0) ? 0 : layout.values.first?.value)
      return others.map { .enumeration(layout, $0) } ?? .null
    case .structure(let layout):
      let layout = layout()
      return .structure(layout, structure(at: offset, size: layout.size))
    case .array(let kind, let count):
      return .vector(
        LayoutElements(kind: kind, storage: .array(self, offset: offset, count: count)))
    case .string, .table, .union, .vector: return .null
    }
  }

  func integer(_ type: ValueType, at offset: Int) -> Int64 {
    switch type {
    case .bool: scalar(at: offset) as Bool ? 1 : 0
    case .int8: Int64(scalar(at: offset) as Int8)
    case .uint8: Int64(scalar(at: offset) as UInt8)
    case .int16: Int64(scalar(at: offset) as Int16)
    case .uint16: Int64(scalar(at: offset) as UInt16)
    case .int32: Int64(scalar(at: offset) as Int32)
    case .uint32: Int64(scalar(at: offset) as UInt32)
    default: scalar(at: offset) as Int64
    }
  }

  private func scalar(_ type: ValueType, at offset: Int) -> Value {
    switch type {
    case .bool: .bool(scalar(at: offset))
    case .uint64: .unsigned(scalar(at: offset))
    case .float: .real(Double(scalar(at: offset) as Float))
    case .double: .real(scalar(at: offset))
    default: .integer(integer(type, at: offset))
    }
  }
}

extension UnionReader {
  func value(in layout: UnionLayout) -> LayoutValue {
    guard let member = layout.member(tag) else { return .null }
    return switch self.value(member.kind) {
    case .null: .null
    default: .union(member, self)
    }
  }

  /// The value of a union member of this kind.
  func value(_ kind: Property.Kind) -> LayoutValue {
    switch kind {
    case .table(let layout): tableReader().map { .table(layout(), $0) } ?? .null
    case .structure(let layout):
      structReader(size: layout().size).map { .structure(layout(), $0) } ?? .null
    case .string: utf8().map { .string($0) } ?? .null
    default: .null
    }
  }
}
