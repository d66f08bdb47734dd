// FieldIndex: the observers that are registered under one field.
//
// A changed row is looked up by the field's value before and after the change. If the field was not
// changed, both values are the same, so it is read once; a look-up by a number or a hash is then
// one probe of a table. Reading the value is a separate step, so that a caller with many changes
// can read several rows before it looks them up.

import FlatBuffersRuntime

final class FieldIndex {
  let reader: ColumnReader
  /// The fields of the root table that the value depends on.
  private let mask: UInt64
  private let hash = TextHash()
  // Used by one delivery at a time, so dynamic exclusivity checks would find nothing.

  /// Observers by the key of a number, or the hash of a string.
  @exclusivity(unchecked) private var values = KeyTable<QueryObserver>()
  @exclusivity(unchecked) private var ranges = IntervalIndex<QueryObserver>()
  @exclusivity(unchecked) private var unknown = SmallSet<QueryObserver>.none

  init(_ field: FieldDescriptor) {
    reader = ColumnReader(field)
    mask = field.rootMask
  }

  var isEmpty: Bool { values.isEmpty && ranges.isEmpty && unknown.isEmpty }

  func insert(_ path: AccessPath, _ observer: QueryObserver) {
    switch path {
    case .equal(let field, let value): values.insert(key(value, field.type), observer)
    case .range(_, let range): ranges.insert(range, observer)
    case .null: unknown.insert(observer)
    }
  }

  func remove(_ path: AccessPath, _ observer: QueryObserver) {
    switch path {
    case .equal(let field, let value): values.remove(key(value, field.type), observer)
    case .range(_, let range): ranges.remove(range, observer)
    case .null: unknown.remove(observer)
    }
  }

  /// The key under which observers of an equal value are found.
  private func key(_ value: Value, _ type: ValueType) -> UInt64 {
    guard case .string(var text) = value else { return OrderKey.key(value, type) }
    return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
  }

  func forEach(_ body: (QueryObserver) -> Void) {
    values.forEach(body)
    ranges.forEach(body)
    unknown.forEach(body)
  }

  // MARK: Finding

  /// The field's value in the changed row; in a deleted row, its last value.
  @inline(__always)
  func value(in change: UnsafePointer<RowChange>) -> ColumnValue {
    // The change retains the rows.
    guard let row = change.pointee.new?.unretainedTable ?? change.pointee.old?.unretainedTable
    else { return .null }
    return reader.read(row)
  }

  /// Shows a change to the observers that are found by it.
  /// - Parameters:
  ///   - value: The row's value in the field.
  ///   - touched: Receives the observers for which this is the first change that touches them.
  @inline(__always)
  func find(
    _ change: UnsafePointer<RowChange>, _ index: Int, _ value: ColumnValue,
    _ touched: inout [QueryObserver]
  ) {
    // Old rows are read only if necessary: they have left the processor's caches.
    if change.pointee.fields & mask != 0, change.pointee.new != nil,
      let old = change.pointee.old?.unretainedTable
    {
      let before = reader.read(old)
      if !before.isSame(as: value) {
        visit(before, change, index, .old, &touched)
        return visit(value, change, index, .new, &touched)
      }
    }
    visit(value, change, index, .both, &touched)
  }

  @inline(never)
  private func visit(
    _ value: ColumnValue, _ change: UnsafePointer<RowChange>, _ index: Int,
    _ side: QueryObserver.Side, _ touched: inout [QueryObserver]
  ) {
    let exact: UInt64
    let order: UInt64
    var text: UnsafeRawBufferPointer?
    switch value {
    case .null:
      return unknown.forEach {
        if $0.examine(change, index, side, nil) { touched.append($0) }
      }
    case .integer(let value):
      exact = OrderKey.key(value, reader.field.type)
      order = exact
    case .real(let value):
      exact = OrderKey.key(value)
      order = exact
    case .text(let bytes):
      text = bytes
      exact = values.isEmpty ? 0 : hash(bytes)
      order = ranges.isEmpty ? 0 : OrderKey.prefix(bytes)
    }
    values[exact].forEach { if $0.examine(change, index, side, text) { touched.append($0) } }
    if ranges.isEmpty { return }
    ranges.forEach(containing: order) {
      if $0.examine(change, index, side, text) { touched.append($0) }
    }
  }
}
