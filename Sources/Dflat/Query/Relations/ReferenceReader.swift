// ReferenceReader: the keys that a reference has, read from the bytes of a row.

import FlatBuffersRuntime

/// Reads the keys of one reference.
struct ReferenceReader {
  /// The type of the keys.
  let type: ValueType
  /// Reads the field, if it is no vector.
  let column: ColumnReader?
  /// Reads the keys of a vector, one after the other.
  private let elements: ElementReader?

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
    let reader = ElementReader(
      ElementVariable(vector.containers, vector.offset), at: vector.offset)
    column = nil
    type = reader.type
    elements = reader
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
    try elements?.forEach(table, body)
  }
}
