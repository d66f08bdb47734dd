// Writing structs and vectors, element by element.

import FlatBuffersRuntime

extension StructLayout {
  /// The bytes of a struct, with zeroed padding.
  func copy(_ structure: StructReader) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    for property in properties {
      bytes.store(structure.value(of: property), property.kind, at: property.offset)
    }
    return bytes
  }
}

extension [UInt8] {
  /// Stores a value of a fixed struct at an offset.
  mutating func store(_ value: LayoutValue, _ kind: Property.Kind, at offset: Int) {
    switch value {
    case .scalar(let type, let value): store(value, type, at: offset)
    case .enumeration(let layout, let raw): store(layout.constant(raw), layout.type, at: offset)
    case .structure(let layout, let structure):
      replaceSubrange(offset..<offset + layout.size, with: layout.copy(structure))
    case .vector(let elements):
      for index in 0..<elements.count {
        store(elements[index], elements.kind, at: offset + index * elements.kind.inlineSize)
      }
    case .null, .string, .defaultString, .table, .union: break
    }
  }

  /// Stores a scalar at an offset.
  mutating func store(_ value: Value, _ type: ValueType, at offset: Int) {
    var bits = value.bits
    if type == .float, case .real(let value) = value {
      bits = UInt64(Float(value).bitPattern)
    }
    for index in 0..<type.size {
      self[offset + index] = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(index)))
    }
  }
}

/// The elements of a vector that is being written.
struct EncodedElements {
  private let kind: Property.Kind
  private var count = 0
  private var bytes: [UInt8] = []
  private var tags: [UInt8] = []
  private var offsets: [FlatBufferBuilder.Offset] = []

  init(_ kind: Property.Kind) {
    self.kind = kind
  }

  /// Appends an element to any vector except one of unions. Absent values are dropped.
  mutating func append(_ value: EncodedValue, to builder: FlatBufferBuilder) {
    switch value {
    case .scalar(let type, let value):
      let start = bytes.count
      bytes += [UInt8](repeating: 0, count: type.size)
      bytes.store(value, type, at: start)
      count += 1
    case .structure(_, let structure):
      bytes += structure
      count += 1
    case .offset(let offset): offsets.append(offset)
    case .none, .union, .unions: break
    }
  }

  /// Appends an element to a vector of unions.
  mutating func append(tag: UInt8, _ offset: FlatBufferBuilder.Offset) {
    guard offset != .none else { return }
    tags.append(tag)
    offsets.append(offset)
  }

  /// Writes the vector; an empty vector is left out.
  func finish(in builder: FlatBufferBuilder) -> EncodedValue {
    if case .union = kind {
      guard !tags.isEmpty else { return .none }
      return .unions(tags: builder.vector(tags), builder.vector(offsets))
    }
    if !offsets.isEmpty { return .offset(builder.vector(offsets)) }
    guard count > 0 else { return .none }
    let size = kind.inlineSize
    let alignment = if case .structure(let layout) = kind { layout().alignment } else { size }
    return bytes.withUnsafeBytes { source in
      .offset(
        builder.vector(count: count, size: size, alignment: alignment) { index, memory in
          guard let start = source.baseAddress else { return }
          memory.copyMemory(from: start + index * size, byteCount: size)
        })
    }
  }
}
