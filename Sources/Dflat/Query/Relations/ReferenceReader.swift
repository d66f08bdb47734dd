// ReferenceReader: the keys that a reference has, read from the bytes of a row.

import FlatBuffersRuntime

/// Reads the keys of one reference.
struct ReferenceReader {
  /// The type of the keys.
  let type: ValueType
  /// Reads the field, if it is no vector.
  let column: ColumnReader?
  /// Reads the keys of a vector, one after the other.
  private let elements: Elements?

  /// The elements of a vector of the root table.
  private struct Elements {
    let offset: Int
    let stride: Int
  }

  /// - Parameters:
  ///   - schema: The type that has the reference.
  ///   - offset: The vtable offset of the field.
  init(_ schema: EntitySchema, _ offset: Int) {
    if let field = schema.root.fieldIfKnown(offset, in: schema) {
      self.init(field)
    } else {
      self.init(VectorPath(containers: [schema.root], offset: offset))
    }
  }

  /// - Parameter field: The field with the key.
  init(_ field: FieldDescriptor) {
    column = ColumnReader(field)
    type = field.type
    elements = nil
  }

  /// - Parameter vector: A vector of the root table.
  init(_ vector: VectorPath) {
    let element = ElementVariable(vector.containers, vector.offset)
    column = nil
    type = element.value.type
    elements = Elements(offset: vector.offset, stride: element.kind.inlineSize)
  }

  /// Whether an object can have several keys.
  var isVector: Bool { column == nil }

  /// Calls `body` with each known key. Text is valid as long as the row.
  @inline(__always)
  func forEachKey(_ table: TableReader, _ body: (ColumnValue) throws -> Void) rethrows {
    if let column {
      let value = column.read(table)
      if case .null = value { return }
      return try body(value)
    }
    guard let elements,
      let vector = table.vector(at: elements.offset, stride: elements.stride)
    else { return }
    for index in 0..<vector.count {
      switch type {
      case .string: if let text = vector.utf8(index) { try body(.text(text)) }
      case .float, .double:
        let number = table.real(type, at: vector.position(of: index))
        if !number.isNaN { try body(.real(number)) }
      default: try body(.integer(table.integer(type, at: vector.position(of: index))))
      }
    }
  }
}

/// A key in a dictionary: equal if the storage considers them equal.
struct StoredKey: Hashable {
  let value: Value

  init(_ value: Value) { self.value = value }

  static func == (left: StoredKey, right: StoredKey) -> Bool {
    switch (left.value, right.value) {
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.string, _), (_, .string): false
    case (.real(let left), .real(let right)): left == right
    default: left.value.bits == right.value.bits
    }
  }

  func hash(into hasher: inout Hasher) {
    switch value {
    case .string(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .real(let number): hasher.combine(number)
    default: hasher.combine(value.bits)
    }
  }
}
