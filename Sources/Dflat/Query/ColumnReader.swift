// Column readers: read the values that an engine stores beside a row from the row's bytes.

package import FlatBuffersRuntime
import Platform

/// Reads one field of a schema as a column value.
@usableFromInline package final class ColumnReader: Sendable {
  /// The field to read.
  package let field: FieldDescriptor
  /// The same field with its stored values as they are and without a column.
  package let storedField: FieldDescriptor
  private let program: Program
  /// The offset of a string field of the root table, which is read without evaluating the program;
  /// 0 for all other fields.
  private let rootText: Int

  init(_ field: FieldDescriptor) {
    // A column holds the stored raw value, whether this version of the schema knows it or not.
    self.field = field
    storedField = FieldDescriptor(
      path: field.path, type: field.type, steps: field.steps, leaf: field.leaf,
      defaultValue: field.defaultValue, domain: nil, column: nil)
    program = Program(.field(storedField))
    if case .string(let offset) = field.leaf, field.steps.isEmpty, field.alternatives.isEmpty {
      rootText = offset
    } else {
      rootText = 0
    }
  }

  /// The value in a row; null if it is unknown.
  package func read(_ table: TableReader) -> ColumnValue {
    switch field.type {
    case .string:
      if rootText > 0, let bytes = table.utf8(at: rootText) { return .text(bytes) }
      return program.utf8(program.result, table, nil).map { .text($0) } ?? .null
    case .float, .double: return program.real(program.result, table, nil).map { .real($0) } ?? .null
    default: return program.integer(program.result, table, nil).map { .integer($0) } ?? .null
    }
  }
}

/// The column value of a row whose bytes lack the field. It depends on the version of the schema,
/// since defaults are not stored.
package enum AbsentValue: Sendable {
  /// The value of most fields: 0 for numbers, null for strings and for fields in nested tables.
  case ordinary
  /// Null, though the field is a number.
  case unknown
  /// The field's default in the schema.
  case value(Value)
}

extension ColumnReader {
  /// The column value of rows that lack the field.
  package var absentValue: AbsentValue {
    switch (storedField.leaf, storedField.defaultValue) {
    case (.scalar, nil): .unknown
    case (.scalar, .real(let value)?) where value.isNaN: .unknown
    case (.scalar, .bool(false)?), (.scalar, .integer(0)?), (.scalar, .unsigned(0)?): .ordinary
    case (.scalar, .real(let value)?) where value.bitPattern == 0: .ordinary
    case (.scalar, let value?), (.string, let value?): .value(value)
    case (.string, nil), (.structScalar, _), (.unionTag, _), (.stringMember, _), (.presence, _),
      (.vectorCount, _), (.unionCount, _), (.element, _), (.elementTag, _), (.elementString, _):
      .ordinary
    }
  }
}

extension ColumnReader {
  /// Whether the value in a row is the one that rows without the field have: then another version
  /// of the schema, with another default, may read another one.
  package func isDefault(in row: TableReader) -> Bool {
    guard let value = read(row).constant(storedField.type) else { return true }
    return storedField.defaultValue.map { value.equals($0) } ?? false
  }
}

extension IndexColumn {
  /// Reads the indexed field from rows.
  package var reader: ColumnReader { reading.get { ColumnReader(indexed) } }

  /// Whether the column's value in a row depends on more than the row: on the default in the
  /// schema, or for folded text on the version of Unicode.
  package func dependsOnProgram(in row: TableReader) -> Bool {
    isFolded || reader.isDefault(in: row)
  }
}

extension EntitySchema {
  /// The primary key of a row in readable form: `site: "notes", number: 7`.
  package func describeKey(of row: TableReader) -> String {
    keyReaders.map { describe($0.read(row), of: $0.field) }.joined(separator: ", ")
  }

  /// A field and its value in readable form, with the schema's names: `attachment.as(Photo).path:
  /// "7.jpg"`. A long value is cut.
  package func describe(_ value: ColumnValue, of field: FieldDescriptor) -> String {
    let text = value.constant(field.type).map { value in
      if field.form == nil, case .string(let text) = value { return text.shortenedLiteral }
      return self.text(of: value, in: field).shortened
    }
    return "\(name(of: field)): \(text ?? "null")"
  }
}
