// ReadRequest: what is asked of a state of the storage, as a value.
//
// A damaged row is reported to the error hook and left out, except where a request says that it is
// thrown.

/// The rows that are asked for.
package enum ReadRequest {
  /// The result of a query, in its order.
  case query(Query)
  /// The row with a primary key.
  case key(EntitySchema, KeyValues)
  /// The rows with some primary keys, in the order of the keys. There is none for a key that is
  /// nil.
  case keys(EntitySchema, KeyList)
  /// The row with the primary key that a row has. A damaged one is thrown.
  case keyOf(EntitySchema, Row)
  /// The row with an id. A damaged one is thrown.
  case id(EntitySchema, Int64)
  /// The rows with some ids, in ascending order of ids.
  case ids(EntitySchema, [Int64])
  /// The rows of a type whose ids are greater than `id`, in ascending order of ids; with nil the
  /// first ones. Other programs may have used any id, the least one, too.
  case after(EntitySchema, id: Int64?, limit: Int)

  /// The type of the rows.
  package var schema: EntitySchema {
    switch self {
    case .query(let query): query.schema
    case .key(let schema, _), .keys(let schema, _), .keyOf(let schema, _), .id(let schema, _),
      .ids(let schema, _), .after(let schema, _, _):
      schema
    }
  }
}

extension ReadRequest {
  /// The least id that is greater than `id`, or of all with nil; nil if there is none.
  package static func firstID(after id: Int64?) -> Int64? {
    guard let id else { return .min }
    return id == .max ? nil : id + 1
  }
}

/// What a scan gives of each row.
package enum ScanForm {
  /// The bytes.
  case bytes
  /// The id and the bytes.
  case rows
  /// The id. The bytes may be there, too.
  case ids
  /// The stored values of some fields, without reading the row.
  case columns([FieldDescriptor])
  /// Each combination of stored values that rows have, and the number of these rows, without
  /// reading the rows, in any order. A combination may come several times, with a part of its rows
  /// each. The query wants group counts, and has no limit, offset and start.
  case groups([FieldDescriptor])

  /// Whether it is about columns of a key or index.
  var isOfColumns: Bool {
    switch self {
    case .bytes, .rows, .ids: false
    case .columns, .groups: true
    }
  }
}

/// What a scan passes on, in the engine's memory. It is valid during the call only.
@frozen
@usableFromInline package struct ScannedRow {
  /// The id of the row, if the form asks for it.
  @usableFromInline package let id: Int64
  /// The place of its key in the list, for a list of keys; the number of rows, for a group.
  @usableFromInline package let number: Int
  @usableFromInline let start: UnsafeRawPointer?
  @usableFromInline let count: Int

  /// A row, or its id alone.
  @inlinable @inline(__always)
  package init(
    id: Int64 = -1, place: Int = 0,
    _ bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    self.id = id
    number = place
    start = bytes.baseAddress
    count = bytes.count
  }

  /// Values, and for a group the number of rows that have them.
  @inlinable @inline(__always)
  package init(_ values: UnsafeBufferPointer<ColumnValue>, rows: Int = 0) {
    id = -1
    number = rows
    start = UnsafeRawPointer(values.baseAddress)
    count = values.count
  }

  /// The bytes of the row.
  @inlinable @inline(__always)
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// The values of the fields that the form names.
  @inlinable @inline(__always)
  package var values: UnsafeBufferPointer<ColumnValue> {
    UnsafeBufferPointer(start: start?.assumingMemoryBound(to: ColumnValue.self), count: count)
  }
}

/// What receives the rows of a scan by two threads.
package struct ConcurrentScan {
  /// What is wanted of the rows, if that is nothing but these fields.
  package let fields: [FieldDescriptor]?
  /// Called with the half that a row is in, 0 or 1, and with the row's bytes, until it returns
  /// false. The bytes are valid during the call only. It does not use the storage. Each half is
  /// read by one thread.
  package let body: @Sendable (_ half: Int, _ bytes: UnsafeRawBufferPointer) -> Bool
}
