// FieldIndex: the observers that are registered under one field.
//
// A changed row is looked up by the field's value, before and after. If the field is not among those that were changed, both are
// one value, which is read once; what is found by a number or a hash then costs one look into a table. Reading is a step of its
// own, so that whoever has many changes reads several rows at a time.

import FlatBuffersRuntime

final class FieldIndex {
  let reader: ColumnReader
  /// The fields of the root table that the value depends on.
  private let mask: UInt64
  private let hash = TextHash()
  // Used by one delivery at a time, so checks of exclusive use would find nothing.

  /// By the key of a number, or the hash of a text.
  @exclusivity(unchecked) private var values = KeyTable<ResultObserver>()
  @exclusivity(unchecked) private var ranges = IntervalIndex<ResultObserver>()
  @exclusivity(unchecked) private var unknown = Few<ResultObserver>.none

  init(_ field: FieldDescriptor) {
    reader = ColumnReader(field)
    mask = field.rootMask
  }

  var isEmpty: Bool { values.isEmpty && ranges.isEmpty && unknown.isEmpty }

  func insert(_ path: AccessPath, _ observer: ResultObserver) {
    switch path {
    case .equal(let field, let value): values.insert(key(value, field.type), observer)
    case .range(_, let range): ranges.insert(range, observer)
    case .null: unknown.insert(observer)
    }
  }

  func remove(_ path: AccessPath, _ observer: ResultObserver) {
    switch path {
    case .equal(let field, let value): values.remove(key(value, field.type), observer)
    case .range(_, let range): ranges.remove(range, observer)
    case .null: unknown.remove(observer)
    }
  }

  /// What is found when it is equal.
  private func key(_ value: Value, _ type: ValueType) -> UInt64 {
    guard case .string(var text) = value else { return OrderKey.key(value, type) }
    return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
  }

  func forEach(_ body: (ResultObserver) -> Void) {
    values.forEach(body)
    ranges.forEach(body)
    unknown.forEach(body)
  }

  // MARK: Finding

  /// What the row of a change has in the field; of a deleted one, what it had.
  @inline(__always)
  func value(in change: UnsafePointer<RowChange>) -> ColumnValue {
    // The rows are kept by their change.
    guard let row = change.pointee.new?.unretainedTable ?? change.pointee.old?.unretainedTable
    else { return .null }
    return reader.read(row)
  }

  /// Shows a change to those who are found by it.
  /// - Parameters:
  ///   - value: What the row has in the field.
  ///   - touched: Gets those whom it is the first to touch.
  @inline(__always)
  func find(
    _ change: UnsafePointer<RowChange>, _ index: Int, _ value: ColumnValue,
    _ touched: inout [ResultObserver]
  ) {
    // Old rows are not touched without need: they have left the processor's caches.
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
    _ side: ResultObserver.Side, _ touched: inout [ResultObserver]
  ) {
    let exact: UInt64
    let order: UInt64
    var text: UnsafeRawBufferPointer?
    switch value {
    case .null:
      return unknown.forEach {
        if $0.meet(change, index, side, nil) { touched.append($0) }
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
    values[exact].forEach { if $0.meet(change, index, side, text) { touched.append($0) } }
    if ranges.isEmpty { return }
    ranges.forEach(containing: order) {
      if $0.meet(change, index, side, text) { touched.append($0) }
    }
  }
}
