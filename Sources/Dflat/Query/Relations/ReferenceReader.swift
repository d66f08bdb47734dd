// ReferenceReader: the keys that a reference has, read from the bytes of a row.

import FlatBuffersRuntime

/// Reads the keys of one reference.
struct ReferenceReader {
  /// The types of the values of a key.
  let types: [ValueType]
  /// Read the fields of the key; there are none for a vector.
  let columns: [ColumnReader]
  /// Reads the keys of a vector, one after the other.
  private let elements: ElementReader?

  /// - Parameters:
  ///   - schema: The type that has the reference.
  ///   - offsets: The vtable offsets of the fields.
  init(_ schema: EntitySchema, _ offsets: [Int]) {
    if let fields = schema.fields(ofReference: offsets) {
      self.init(fields)
    } else {
      self.init(VectorPath(containers: [schema.root], offset: offsets[0]))
    }
  }

  /// - Parameter fields: The fields with the key.
  init(_ fields: [FieldDescriptor]) {
    columns = fields.map(ColumnReader.init)
    types = fields.map(\.type)
    elements = nil
  }

  /// - Parameter vector: A vector of the root table.
  init(_ vector: VectorPath) {
    let reader = ElementReader(
      ElementVariable(vector.containers, vector.offset), at: vector.offset)
    columns = []
    types = [reader.type]
    elements = reader
  }

  /// Whether an object can have several keys.
  var isVector: Bool { columns.isEmpty }

  /// Calls `body` with the values of each key that is known. A key of which one value is unknown is
  /// none. Text is valid as long as the row.
  @inline(__always)
  func forEachKey(
    _ table: TableReader, _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Void
  ) rethrows {
    func single(_ value: ColumnValue) throws {
      try withUnsafePointer(to: value) { try body(UnsafeBufferPointer(start: $0, count: 1)) }
    }
    switch columns.count {
    case 0: try elements?.forEach(table, single)
    case 1:
      let value = columns[0].read(table)
      if case .null = value { return }
      try single(value)
    default:
      try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: columns.count) { values in
        for (place, column) in columns.enumerated() {
          let value = column.read(table)
          if case .null = value { return }
          values.initializeElement(at: place, to: value)
        }
        try body(UnsafeBufferPointer(values))
      }
    }
  }

  /// A key as values that outlive the row.
  func key(_ values: UnsafeBufferPointer<ColumnValue>) -> KeyValues? {
    KeyValues(count: types.count) { values[$0].constant(types[$0]) }
  }
}

extension EntitySchema {
  /// The fields of a reference; nil if it is a vector.
  func fields(ofReference offsets: [Int]) -> [FieldDescriptor]? {
    let fields = offsets.compactMap { root.fieldIfKnown($0, in: self) }
    return fields.count == offsets.count ? fields : nil
  }

  /// The primary key of a row; nil if a value is unknown.
  func key(_ table: TableReader) -> KeyValues? {
    KeyValues(count: keyReaders.count) {
      keyReaders[$0].read(table).constant(keyReaders[$0].field.type)
    }
  }
}
