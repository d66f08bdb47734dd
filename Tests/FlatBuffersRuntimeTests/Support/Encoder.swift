// Encodes any value of a layout, in the canonical order: children by slot, then fields by
// descending size and slot.

import FlatBuffersRuntime

extension FlatBufferBuilder {
  func encode(_ value: Value, _ layout: TableLayout) -> Offset {
    guard case .record(let values) = value else { fatalError("a table is a record") }
    var additions: [(slot: Int, size: Int, add: () -> Void)] = []
    for (field, value) in zip(layout.fields, values) {
      guard let value else { continue }
      let fieldOffset = field.offset
      switch (field.kind, value) {
      case (.scalar(let kind), _):
        additions.append((field.slot, kind.size, { self.add(value, kind, at: fieldOffset, field) }))
      case (.structure(let layout), _):
        additions.append(
          (
            field.slot, layout.alignment,
            {
              self.addStructure(at: fieldOffset, size: layout.size, alignment: layout.alignment) {
                fill($0, value, .structure(layout))
              }
            }
          ))
      case (.union, .union(let type, _)):
        let child = child(value, field.kind)
        additions.append(
          (field.slot - 1, 1, { self.add(UInt8(type), at: fieldOffset - 2, default: 0) }))
        additions.append((field.slot, 4, { self.add(child, at: fieldOffset) }))
      case (.unionVector, .vector(let elements)):
        let types = vector(elements.map(\.unionType))
        let child = child(value, field.kind)
        additions.append((field.slot - 1, 4, { self.add(types, at: fieldOffset - 2) }))
        additions.append((field.slot, 4, { self.add(child, at: fieldOffset) }))
      default:
        let child = child(value, field.kind)
        additions.append((field.slot, 4, { self.add(child, at: fieldOffset) }))
      }
    }
    startTable(slotCount: layout.slotCount)
    for addition in additions.sorted(by: { ($1.size, $0.slot) < ($0.size, $1.slot) }) {
      addition.add()
    }
    return endTable()
  }

  /// Writes a value that is stored behind an offset.
  private func child(_ value: Value, _ kind: Kind) -> Offset {
    switch (kind, value) {
    case (.string, .string(let text)): return string(text)
    case (.table(let layout), _): return encode(value, layout)
    case (.structure(let layout), _):
      return indirectStructure(size: layout.size, alignment: layout.alignment) {
        fill($0, value, kind)
      }
    case (.union(let layout), .union(let type, let content)):
      return type == 0 ? .none : child(content, layout.members[type - 1].kind)
    case (.unionVector(let layout), .vector(let elements)):
      return vector(elements.map { child($0, .union(layout)) })
    case (.vector(let element), .vector(let elements)):
      switch element {
      case .scalar, .structure:
        return vector(count: elements.count, size: element.size, alignment: element.alignment) {
          fill($1, elements[$0], element)
        }
      default:
        startVector(count: elements.count)
        for content in elements { push(child(content, element)) }
        return endVector()
      }
    default: fatalError("\(value) is not of kind \(kind)")
    }
  }

  private func add(
    _ value: Value, _ kind: ScalarKind, at fieldOffset: Int, _ field: TableLayout.Field
  ) {
    func add<T: FlatBufferScalar>(_ convert: (Value) -> T) {
      if let `default` = field.default {
        self.add(convert(value), at: fieldOffset, default: convert(`default`))
      } else {
        self.add(Optional(convert(value)), at: fieldOffset)
      }
    }
    switch kind {
    case .bool: add(\.asBool)
    case .int8: add { Int8($0.asInt) }
    case .int16: add { Int16($0.asInt) }
    case .int32: add { Int32($0.asInt) }
    case .int64: add(\.asInt)
    case .uint8: add { UInt8($0.asUInt) }
    case .uint16: add { UInt16($0.asUInt) }
    case .uint32: add { UInt32($0.asUInt) }
    case .uint64: add(\.asUInt)
    case .float: add { Float($0.asDouble) }
    case .double: add(\.asDouble)
    }
  }
}

/// Stores a scalar, a struct or a fixed array in zeroed memory.
private func fill(_ memory: UnsafeMutableRawPointer, _ value: Value, _ kind: Kind) {
  switch (kind, value) {
  case (.scalar(let kind), _):
    switch kind {
    case .bool: memory.storeBytes(of: value.asBool, as: Bool.self)
    case .int8: memory.storeBytes(of: Int8(value.asInt), as: Int8.self)
    case .int16: memory.storeBytes(of: Int16(value.asInt), as: Int16.self)
    case .int32: memory.storeBytes(of: Int32(value.asInt), as: Int32.self)
    case .int64: memory.storeBytes(of: value.asInt, as: Int64.self)
    case .uint8: memory.storeBytes(of: UInt8(value.asUInt), as: UInt8.self)
    case .uint16: memory.storeBytes(of: UInt16(value.asUInt), as: UInt16.self)
    case .uint32: memory.storeBytes(of: UInt32(value.asUInt), as: UInt32.self)
    case .uint64: memory.storeBytes(of: value.asUInt, as: UInt64.self)
    case .float: memory.storeBytes(of: Float(value.asDouble), as: Float.self)
    case .double: memory.storeBytes(of: value.asDouble, as: Double.self)
    }
  case (.structure(let layout), .record(let values)):
    for (member, value) in zip(layout.members, values) {
      guard let value else { fatalError("a struct has all its members") }
      fill(memory + member.offset, value, member.kind)
    }
  case (.array(let kind, let count), .vector(let elements)):
    guard elements.count == count else { fatalError("a fixed array has \(count) elements") }
    for (index, element) in elements.enumerated() {
      fill(memory + index * kind.size, element, kind)
    }
  default: fatalError("\(value) is not of kind \(kind)")
  }
}

extension Value {
  var asBool: Bool {
    guard case .bool(let value) = self else { fatalError("\(self) is no Bool") }
    return value
  }

  var asInt: Int64 {
    guard case .int(let value) = self else { fatalError("\(self) is no signed integer") }
    return value
  }

  var asUInt: UInt64 {
    guard case .uint(let value) = self else { fatalError("\(self) is no unsigned integer") }
    return value
  }

  var asDouble: Double {
    guard case .floatBits(let bits) = self else { fatalError("\(self) is no float") }
    return Double(bitPattern: bits)
  }

  var unionType: UInt8 {
    guard case .union(let type, _) = self else { fatalError("\(self) is no union") }
    return UInt8(type)
  }
}
