// The primary keys of rows: reading them, and comparing rows by them.

import FlatBuffersRuntime

/// What reads the primary key of a type from rows.
private final class KeyReading: Sendable {
  let fields: [ColumnReader]
  /// The key fields whose values may be unknown. Only floating-point fields can be (NaN), so there
  /// are hardly ever any.
  let realFields: [ColumnReader]

  init(_ schema: EntitySchema) {
    fields = schema.primaryKey.map(ColumnReader.init)
    realFields = fields.filter { $0.field.type == .float || $0.field.type == .double }
  }
}

extension EntitySchema {
  private var reading: KeyReading { keyReading.get { KeyReading(self) } }

  /// Reads the fields of the primary key from rows.
  package var keyReaders: [ColumnReader] { reading.fields }

  /// The key fields whose values may be unknown.
  var realKeys: [ColumnReader] { reading.realFields }
}

extension EntitySchema {
  /// The name of a key field whose value in a row is NaN; nil if the key is known.
  func unknownKey(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard !realKeys.isEmpty, let table = TableReader(root: bytes) else { return nil }
    let unknown = realKeys.first { if case .null = $0.read(table) { true } else { false } }
    guard case .scalar(let offset)? = unknown?.field.leaf else { return nil }
    return layout.property(at: offset)?.name
  }

  /// The primary key of a row; nil if a value is unknown, or a text is not UTF-8.
  package func keyValues(of row: Row) -> KeyValues? {
    var values = row.read { table in
      keyReaders.compactMap { reader -> Value? in
        let value = reader.read(table)
        let constant = value.constant(reader.field.type)
        guard case .text(let bytes) = value, case .string(let text)? = constant else {
          return constant
        }
        return text.utf8.elementsEqual(bytes) ? constant : nil
      }
    }
    guard values.count == keyReaders.count else { return nil }
    return KeyValues(first: values.removeFirst(), rest: values)
  }

  func hasSameKey(_ left: Row, _ right: Row) -> Bool {
    left.read { left in
      right.read { right in keyReaders.allSatisfy { $0.read(left).isSame(as: $0.read(right)) } }
    }
  }
}
