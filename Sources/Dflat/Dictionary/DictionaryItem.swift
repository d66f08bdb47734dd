// DictionaryItem: a key with its value as a row of the dictionary's table.
//
// The table and the offsets of its fields are those of upstream Dflat, whose files have only the
// namespace "". Values of each kind have a field of their own; the field `kind` says which one is
// valid. Beside a FlatBuffers value, the field of texts has the name of its type, which upstream
// neither writes nor reads.

import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

package enum DictionaryItem {
  /// The vtable offsets.
  private enum Field {
    static let key = 4
    static let namespace = 6
    static let version = 8
    static let kind = 10
    static let bool = 12
    static let int = 14
    static let uint = 16
    static let float = 18
    static let double = 20
    static let string = 22
    static let bytes = 24
  }

  /// The type whose objects the items are.
  package static let schema = EntitySchema(
    table: "dictitem_v_dflat_internal__",
    layout: TableLayout(
      "DictItem", slots: 11,
      [
        Property("key", Field.key, .string(default: "")),
        Property("namespace", Field.namespace, .string(default: "")),
        Property("version", Field.version, .string(default: nil)),
        Property("kind", Field.kind, .scalar(.int8, default: .integer(0))),
        Property("bool", Field.bool, .scalar(.bool, default: .bool(false))),
        Property("int", Field.int, .scalar(.int64, default: .integer(0))),
        Property("uint", Field.uint, .scalar(.uint64, default: .unsigned(0))),
        Property("float", Field.float, .scalar(.float, default: .real(0))),
        Property("double", Field.double, .scalar(.double, default: .real(0))),
        Property("string", Field.string, .string(default: nil)),
        Property("bytes", Field.bytes, .vector(.scalar(.uint8, default: .integer(0)))),
      ]),
    primaryKey: [Field.key, Field.namespace])

  /// The fields that may differ between two items with the same key.
  static let values: FieldSet = {
    var fields = FieldSet.none
    for field in stride(from: Field.version, through: Field.bytes, by: 2) { fields.insert(field) }
    return fields
  }()

  private static let namespaceField = schema.primaryKey[1]
  private static let keyField = schema.primaryKey[0]

  /// A query for one item.
  static func query(_ key: String, in namespace: String) -> Query {
    Query(
      schema: schema,
      condition: .and([equal(keyField, key), equal(namespaceField, namespace)]))
  }

  /// A query for all items of a namespace.
  static func query(in namespace: String) -> Query {
    Query(schema: schema, condition: equal(namespaceField, namespace))
  }

  private static func equal(_ field: FieldDescriptor, _ text: String) -> Node {
    .comparison(.equal, .field(field), .constant(.string(text), .string), .string)
  }

  /// The item as a row, which is refused if it is too large. `contents` must not be absent, and
  /// must be encoded.
  static func row(
    _ key: String, in namespace: String, _ contents: DictionaryContents, id: Int64 = -1
  ) -> Row {
    BuilderPool.withBuilder { builder in
      builder.finish(write(key, namespace, contents, to: builder))
      if let refusal = builder.refusal { return Row(built: builder.bytes, refusal: refusal) }
      return Row(sound: builder.bytes, id: id)
    }
  }

  private static func write(
    _ key: String, _ namespace: String, _ contents: DictionaryContents,
    to builder: FlatBufferBuilder
  ) -> FlatBufferBuilder.Offset {
    let key = builder.string(key)
    let namespace = builder.string(namespace)
    var version = FlatBufferBuilder.Offset.none
    var typeName = FlatBufferBuilder.Offset.none
    var payload = FlatBufferBuilder.Offset.none
    switch contents {
    case .string(let text): payload = builder.string(text)
    case .encoded(let value):
      if let text = value.version { version = builder.string(text) }
      if let text = value.typeName { typeName = builder.string(text) }
      if let bytes = value.bytes {
        payload = bytes.withUnsafeBytes {
          builder.vector(bytes: $0, count: $0.count, alignment: 1)
        }
      }
    default: break
    }
    builder.startTable(slotCount: 11)
    switch contents {
    case .int(let value): builder.add(Int64(value), at: Field.int, default: 0)
    case .uint(let value): builder.add(UInt64(value), at: Field.uint, default: 0)
    case .double(let value): builder.add(value, at: Field.double, default: Double(0))
    case .float(let value): builder.add(value, at: Field.float, default: Float(0))
    default: break
    }
    builder.add(key, at: Field.key)
    builder.add(namespace, at: Field.namespace)
    builder.add(version, at: Field.version)
    switch contents {
    case .string: builder.add(payload, at: Field.string)
    case .encoded:
      builder.add(typeName, at: Field.string)
      builder.add(payload, at: Field.bytes)
    default: break
    }
    builder.add(kind(of: contents), at: Field.kind, default: Int8(0))
    if case .bool(let value) = contents { builder.add(value, at: Field.bool, default: false) }
    return builder.endTable()
  }

  private static func kind(of contents: DictionaryContents) -> Int8 {
    switch contents {
    case .absent, .bool: 0
    case .int: 1
    case .uint: 2
    case .float: 3
    case .double: 4
    case .string: 5
    case .encoded(let value): value.isFlatBuffers ? 7 : 6
    }
  }

  static func key(of row: Row) -> String {
    row.read { $0.string(at: Field.key) ?? "" }
  }

  static func namespace(of row: Row) -> String {
    row.read { $0.string(at: Field.namespace) ?? "" }
  }

  /// The value of an item. An unknown kind means that the item is damaged.
  static func contents(of row: Row) throws -> DictionaryContents {
    guard let contents = row.read(contents) else { throw unknownKind(of: row.id) }
    return contents
  }

  /// The value of an item; nil if its kind is unknown.
  static func contents(of item: TableReader) -> DictionaryContents? {
    let kind = item.scalar(at: Field.kind, default: Int8(0))
    switch kind {
    case 0: return .bool(item.scalar(at: Field.bool, default: false))
    case 1: return .int(Int(item.scalar(at: Field.int, default: Int64(0))))
    case 2: return .uint(UInt(item.scalar(at: Field.uint, default: UInt64(0))))
    case 3: return .float(item.scalar(at: Field.float, default: Float(0)))
    case 4: return .double(item.scalar(at: Field.double, default: Double(0)))
    case 5: return .string(item.string(at: Field.string) ?? "")
    case 6, 7:
      let bytes = item.vector(at: Field.bytes, stride: 1).map { Data($0.elementBytes) }
      return .encoded(
        StoredBytes(
          isFlatBuffers: kind == 7, version: item.string(at: Field.version),
          typeName: kind == 7 ? item.string(at: Field.string) : nil, bytes: bytes ?? Data(),
          object: UnknownObject.shared))
    default: return nil
    }
  }

  static func unknownKind(of id: Int64) -> StorageError {
    StorageError(
      .corruptRow, table: schema.table, rowid: id,
      message: "the kind of the dictionary's value is unknown")
  }
}
