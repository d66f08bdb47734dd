// StoredObject: an object, or selected values of one, to be shown.

import Dflat
import FlatBuffersRuntime
public import Foundation
import Platform
import SQLiteAccess

/// An object of a file, or some values of it.
///
/// It is encoded with the names of its schema, as objects of generated types are: enums by name, a
/// union in two entries, `attachment_type` and `attachment`. What has a Swift type of its own in
/// programs is encoded as it is stored.
public struct StoredObject: Sendable, Encodable {
  private enum Content: Sendable {
    case row(Row, EntitySchema, isStored: Bool)
    case values([(name: String, value: SelectedValue)])
    case unnamed(Int64, keys: [(column: String, value: SQLValue)], [UInt8])
  }

  private let content: Content

  /// - Parameter isStored: Whether the row is one of the file. Other programs store rows under any
  /// id, also under the one that a new row has.
  init(_ row: Row, of schema: EntitySchema, isStored: Bool = true) {
    content = .row(row, schema, isStored: isStored)
  }
  init(_ values: [(name: String, value: SelectedValue)]) { content = .values(values) }
  init(id: Int64, keys: [(column: String, value: SQLValue)], _ bytes: [UInt8]) {
    content = .unnamed(id, keys: keys, bytes)
  }

  /// - Parameter keys: The key columns and their values as text.
  package init(id: Int64, textKeys keys: [(column: String, value: String)], _ bytes: [UInt8]) {
    content = .unnamed(id, keys: keys.map { ($0.column, .text($0.value)) }, bytes)
  }

  /// The row, if it was read with a schema.
  var row: Row? {
    if case .row(let row, _, _) = content { row } else { nil }
  }

  /// The id of its row in the file; nil for selected values, and for what is not stored.
  public var rowID: Int64? {
    switch content {
    case .row(let row, _, let isStored): isStored ? row.id : nil
    case .values: nil
    case .unnamed(let id, _, _): id
    }
  }

  /// The values of the primary key as text, in the order of its fields, as
  /// ``DataStore/object(of:key:)`` takes them; none for selected values.
  public var key: [String] {
    switch content {
    case .row(let row, let schema, _): schema.keyTexts(of: row)
    case .values: []
    case .unnamed(_, let keys, _): keys.map { UnnamedKey($0.value).text }
    }
  }

  /// Identifies the stored bytes: objects of a type with the same bytes have the same version, a
  /// digest of 64 hexadecimal digits. Empty for selected values.
  public var version: String {
    switch content {
    case .row(let row, _, _): row.withBytes { SHA256.hexadecimal([UInt8]($0)) }
    case .values: ""
    case .unnamed(_, _, let bytes): SHA256.hexadecimal(bytes)
    }
  }

  /// How many bytes are stored, without key columns and indexes; 0 for selected values.
  public var byteCount: Int {
    switch content {
    case .row(let row, _, _): row.withBytes { $0.count }
    case .values: 0
    case .unnamed(_, _, let bytes): bytes.count
    }
  }

  /// Encodes the fields, or the selected values.
  public func encode(to encoder: any Encoder) throws {
    switch content {
    case .row(let row, let schema, _): try EncodableRow(row, of: schema).encode(to: encoder)
    case .values(let values):
      var container = encoder.container(keyedBy: NameKey.self)
      for (name, value) in values { try container.encode(value, forKey: NameKey(name)) }
    case .unnamed(_, let keys, let bytes):
      var container = encoder.container(keyedBy: NameKey.self)
      for (column, value) in keys {
        try container.encode(UnnamedKey(value), forKey: NameKey(column))
      }
      try bytes.withUnsafeBytes { bytes in
        guard let table = TableReader(root: bytes) else { return }
        try UnnamedTable(table).encode(into: &container)
      }
    }
  }

  /// The object as one line of JSON, with the names in alphabetical order.
  /// - Throws: `EncodingError`; it does not happen for objects of a file.
  public func json() throws -> Data { try ToolJSON.line(self) }

  /// The values of some fields as text for people: texts as they are, what has parts as JSON,
  /// nothing for what is absent.
  /// - Throws: `EncodingError`; it does not happen for objects of a file.
  public func texts(of names: [String]) throws -> [String] {
    let values = try values()
    return names.map { (values[$0] ?? .null).text }
  }

  /// The values by name, for tables.
  func values() throws -> [String: JSONValue] {
    guard case .object(let values) = try ToolJSON.value(self) else { return [:] }
    return values
  }

  /// The values in which two objects differ, in the order of their names. What one of them lacks
  /// counts as null.
  static func differences(
    _ first: StoredObject, _ second: StoredObject
  ) throws -> [(name: String, first: JSONValue, second: JSONValue)] {
    let (one, other) = (try first.values(), try second.values())
    return Set(one.keys).union(other.keys).sorted().compactMap { name in
      let (first, second) = (one[name] ?? .null, other[name] ?? .null)
      return first == second ? nil : (name, first, second)
    }
  }
}

extension EntitySchema {
  /// The values of a row's primary key as text: enums by name.
  func keyTexts(of row: Row) -> [String] {
    let scope = FieldScope(self)
    let values = RowValues(primaryKey.map { (.field($0), $0.type) })
      .values(of: row, as: primaryKey.map(\.type))
    return zip(primaryKey, values).map { field, value in
      guard let value else { return "" }
      if case .value(_, let kind, _)? = scope.member(name(of: field)),
        let name = kind.valueName(value)
      {
        return name
      }
      return switch value {
      case .bool(let value): "\(value)"
      case .integer(let value): "\(value)"
      case .unsigned(let value): "\(value)"
      case .real(let value): "\(value)"
      case .string(let text): text
      }
    }
  }
}

extension Property.Kind {
  /// The name of a value of an enum; nil if it has none.
  func valueName(_ value: Value) -> String? {
    guard case .enumeration(let layout, _) = self else { return nil }
    let raw: Int64
    switch value {
    case .integer(let number): raw = number
    case .unsigned(let number): raw = Int64(bitPattern: number)
    case .bool, .real, .string: return nil
    }
    return layout().values.first { $0.value == raw }?.name
  }
}

/// A value that a query selects.
enum SelectedValue: Sendable, Encodable {
  case known(Value)
  case named(String)
  case unknown

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .unknown: try container.encodeNil()
    case .named(let name): try container.encode(name)
    case .known(.bool(let value)): try container.encode(value)
    case .known(.integer(let value)): try container.encode(value)
    case .known(.unsigned(let value)): try container.encode(value)
    case .known(.real(let value)): try container.encode(value)
    case .known(.string(let value)): try container.encode(value)
    }
  }
}

/// A coding key with an arbitrary name.
struct NameKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A key column of a row without names.
private struct UnnamedKey: Encodable {
  let value: SQLValue

  init(_ value: SQLValue) { self.value = value }

  var text: String {
    switch value {
    case .null: ""
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case .null: try container.encodeNil()
    case .integer(let number): try container.encode(number)
    case .real(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .blob(let bytes): try container.encode("\(bytes.count) bytes")
    }
  }
}

/// A table whose schema is not known: `f4`, `f6`.
///
/// FlatBuffers do not say what a field is. It is shown as a text if it leads to one, and otherwise
/// as the whole number that fits between it and the next field.
struct UnnamedTable {
  private let table: TableReader
  /// More slots are not looked at: bytes that are no table may seem to have them.
  private static let slotLimit = 4096

  init(_ table: TableReader) { self.table = table }

  func encode(into container: inout KeyedEncodingContainer<NameKey>) throws {
    let fields = (0..<Self.slotLimit).map { 4 + 2 * $0 }
      .map { (offset: $0, position: table.locate($0, size: 1)) }.filter { $0.position > 0 }
    let positions = fields.map(\.position).sorted()
    for (offset, position) in fields {
      let key = NameKey("f\(offset)")
      if let text = text(at: position) {
        try container.encode(text, forKey: key)
        continue
      }
      let end = positions.first { $0 > position } ?? position + 4
      let size = [8, 4, 2].first { $0 <= end - position && position.isMultiple(of: $0) } ?? 1
      let number: Int64? =
        switch size {
        case 8: table.scalar(atPosition: position)
        case 4: (table.scalar(atPosition: position) as Int32?).map(Int64.init)
        case 2: (table.scalar(atPosition: position) as Int16?).map(Int64.init)
        default: (table.scalar(atPosition: position) as Int8?).map(Int64.init)
        }
      try container.encode(number, forKey: key)
    }
  }

  /// The text at a position, if what is there looks like one: its bytes are UTF-8 without control
  /// characters.
  private func text(at position: Int) -> String? {
    guard let bytes = table.utf8(atPosition: position),
      let text = String(validating: bytes, as: UTF8.self),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 || $0 == "\n" || $0 == "\t" })
    else { return nil }
    return text
  }
}
