// Writing tables, value by value, in the canonical order of generated code:
//
//  1. children (strings, vectors, tables, union values) in slot order;
//  2. then the fields of the table, by descending inline size (a struct counts with its alignment,
//     an offset is 4 bytes, a tag 1), then by slot.
//
// Defaults are left out, except for required fields and the strings of a primary key.

import FlatBuffersRuntime

/// The value of a field, ready to be added to a table.
enum EncodedValue {
  case none
  case scalar(ValueType, Value)
  case offset(FlatBufferBuilder.Offset)
  case structure(StructLayout, [UInt8])
  case union(tag: UInt8, FlatBufferBuilder.Offset)
  case unions(tags: FlatBufferBuilder.Offset, FlatBufferBuilder.Offset)
}

/// An empty buffer.
var emptyBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

/// One `add` call: a property, or the tag (or tags) of one.
struct WriteStep: Sendable {
  let property: Int
  let offset: Int
  let size: Int
  let isTag: Bool
}

extension TableLayout {
  /// The indices of the properties in slot order, which is the order of children.
  var indicesInSlotOrder: [Int] {
    properties.indices.sorted { properties[$0].offset < properties[$1].offset }
  }

  /// The order of the fields in a table. A struct counts with its alignment as its size.
  func writeSteps() -> [WriteStep] {
    var steps: [WriteStep] = []
    for (index, property) in properties.enumerated() {
      let size: Int
      switch property.kind {
      case .structure(let layout): size = layout().alignment
      case .union:
        steps.append(WriteStep(property: index, offset: property.offset - 2, size: 1, isTag: true))
        size = 4
      case .vector(.union):
        steps.append(WriteStep(property: index, offset: property.offset - 2, size: 4, isTag: true))
        size = 4
      default: size = property.kind.inlineSize
      }
      steps.append(
        WriteStep(property: index, offset: property.offset, size: size, isTag: false))
    }
    return steps.sorted { ($1.size, $0.offset) < ($0.size, $1.offset) }
  }

  /// Writes a table. `encode` provides the values; it is called once per property in slot order.
  func write(
    to builder: FlatBufferBuilder, _ encode: (Property) throws -> EncodedValue
  ) rethrows -> FlatBufferBuilder.Offset {
    var values = [EncodedValue](repeating: .none, count: properties.count)
    for index in indicesInSlotOrder {
      values[index] = try encode(properties[index])
      if properties[index].isAlwaysWritten, case .none = values[index] {
        values[index] = builder.encodeEmpty(properties[index].kind)
      }
    }
    builder.startTable(slotCount: slotCount)
    for step in writeSteps() {
      switch values[step.property] {
      case .none: break
      case .scalar(let type, let value):
        builder.add(value, type, at: step.offset, default: properties[step.property].defaultValue)
      case .offset(let offset): builder.add(offset, at: step.offset)
      case .structure(let layout, let bytes):
        builder.addStructure(at: step.offset, size: layout.size, alignment: layout.alignment) {
          $0.copyMemory(from: bytes, byteCount: layout.size)
        }
      case .union(let tag, let offset):
        if offset != .none {
          if step.isTag {
            builder.add(tag, at: step.offset, default: 0)
          } else {
            builder.add(offset, at: step.offset)
          }
        }
      case .unions(let tags, let offset): builder.add(step.isTag ? tags : offset, at: step.offset)
      }
    }
    return builder.endTable()
  }

  /// Writes a copy of a table in canonical form. Fields that this layout does not know are left
  /// out.
  func copy(_ table: TableReader, to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset {
    write(to: builder) { property in
      let value = builder.encode(table.value(of: property))
      return table.contains(property.offset) ? builder.keepingEmpty(value, property) : value
    }
  }
}

extension Property {
  /// The default of a scalar or enum; nil if there is none.
  var defaultValue: Value? {
    switch kind {
    case .scalar(_, let value): value
    case .enumeration(let layout, let value): value.map { layout().constant($0) }
    default: nil
    }
  }
}

extension FlatBufferBuilder {
  /// The encoded value of a field that is there: an empty vector is written as well if it differs
  /// from an absent one.
  func keepingEmpty(_ value: EncodedValue, _ property: Property) -> EncodedValue {
    guard property.isExact, case .none = value, case .vector = property.kind else { return value }
    return encodeEmpty(property.kind)
  }

  /// Encodes the substitute for a missing value of a field that is always written.
  fileprivate func encodeEmpty(_ kind: Property.Kind) -> EncodedValue {
    switch kind {
    case .string(let text): .offset(string(text ?? ""))
    case .table(let layout): .offset(layout().write(to: self) { _ in .none })
    case .structure(let layout):
      .structure(layout(), [UInt8](repeating: 0, count: layout().size))
    case .vector(.union):
      .unions(
        tags: vector(bytes: emptyBytes, count: 0, alignment: 1),
        vector(bytes: emptyBytes, count: 0, alignment: 4))
    case .vector(let element):
      .offset(vector(bytes: emptyBytes, count: 0, alignment: element.alignment))
    case .scalar, .enumeration, .union, .array: .none
    }
  }

  /// Writes the child of a value, if it has one.
  func encode(_ value: LayoutValue) -> EncodedValue {
    switch value {
    case .null, .defaultString: return .none
    case .scalar(let type, let value): return .scalar(type, value)
    case .enumeration(let layout, let raw): return .scalar(layout.type, layout.constant(raw))
    case .string(let bytes): return .offset(string(utf8: bytes))
    case .structure(let layout, let structure): return .structure(layout, layout.copy(structure))
    case .table(let layout, let table): return .offset(layout.copy(table, to: self))
    case .union(let member, let union):
      return .union(tag: member.tag, encodeMember(union.value(member.kind)))
    case .vector(let elements): return encode(elements)
    }
  }

  /// Writes the value of a union member.
  private func encodeMember(_ value: LayoutValue) -> Offset {
    switch encode(value) {
    case .offset(let offset): offset
    case .structure(let layout, let bytes): indirect(layout, bytes)
    default: .none
    }
  }

  func indirect(_ layout: StructLayout, _ bytes: [UInt8]) -> Offset {
    indirectStructure(size: layout.size, alignment: layout.alignment) {
      $0.copyMemory(from: bytes, byteCount: layout.size)
    }
  }

  private func encode(_ elements: LayoutElements) -> EncodedValue {
    var list = EncodedElements(elements.kind)
    for index in 0..<elements.count {
      let element = elements[index]
      if case .union(let member, let union) = element {
        list.append(tag: member.tag, encodeMember(union.value(member.kind)))
      } else {
        list.append(encode(element), to: self)
      }
    }
    return list.finish(in: self)
  }

  /// Adds a scalar whose type is known at run time only. Without a default it is optional and
  /// always written.
  func add(_ value: Value, _ type: ValueType, at field: Int, default defaultValue: Value?) {
    if let defaultValue, defaultValue.bits == value.bits { return }
    switch (type, value) {
    case (.bool, .bool(let value)): add(Optional(value), at: field)
    case (.float, .real(let value)): add(Optional(Float(value)), at: field)
    case (.double, .real(let value)): add(Optional(value), at: field)
    case (.int8, _): add(Optional(Int8(truncatingIfNeeded: value.bits)), at: field)
    case (.uint8, _): add(Optional(UInt8(truncatingIfNeeded: value.bits)), at: field)
    case (.int16, _): add(Optional(Int16(truncatingIfNeeded: value.bits)), at: field)
    case (.uint16, _): add(Optional(UInt16(truncatingIfNeeded: value.bits)), at: field)
    case (.int32, _): add(Optional(Int32(truncatingIfNeeded: value.bits)), at: field)
    case (.uint32, _): add(Optional(UInt32(truncatingIfNeeded: value.bits)), at: field)
    case (.int64, _): add(Optional(Int64(bitPattern: value.bits)), at: field)
    case (.uint64, _): add(Optional(value.bits), at: field)
    default: preconditionFailure("a \(type) cannot hold \(value)")
    }
  }
}
