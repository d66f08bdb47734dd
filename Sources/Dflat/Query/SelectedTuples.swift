// SelectedTuples: tuples of selected values, written part by part.
//
// The types of the parts are known to the caller only, and a tuple made of them in generic code
// costs a multiple of reading the row. So each part writes its value where the tuple has its place,
// by code for its type. Places follow from the layout of tuples: each element behind the one
// before, aligned. Where a query begins, the size of the tuple is compared with that layout.

/// A stored type whose values are written from columns without generic code.
protocol ColumnStored: StoredValue {
  /// The value of a column; nil if it is unknown.
  static func stored(_ column: ColumnValue, _ type: ValueType) -> Self?
  /// Initializes memory for an optional value.
  static func store(_ column: ColumnValue, _ type: ValueType, optionalAt: UnsafeMutableRawPointer)
  /// Initializes memory for a value.
  /// - Returns: False if the value is unknown; the memory is not initialized then.
  static func store(
    _ column: ColumnValue, _ type: ValueType, requiredAt: UnsafeMutableRawPointer
  ) -> Bool
}

extension ColumnStored {
  @inline(__always)
  static func store(
    _ column: ColumnValue, _ type: ValueType, optionalAt place: UnsafeMutableRawPointer
  ) {
    place.assumingMemoryBound(to: Self?.self).initialize(to: stored(column, type))
  }

  @inline(__always)
  static func store(
    _ column: ColumnValue, _ type: ValueType, requiredAt place: UnsafeMutableRawPointer
  ) -> Bool {
    guard let value = stored(column, type) else { return false }
    place.assumingMemoryBound(to: Self.self).initialize(to: value)
    return true
  }
}

extension ColumnStored where Self: FixedWidthInteger {
  @inline(__always)
  static func stored(_ column: ColumnValue, _ type: ValueType) -> Self? {
    guard case .integer(let number) = column, type != .bool else { return nil }
    return type == .uint64
      ? Self(exactly: UInt64(bitPattern: number)) : Self(exactly: number)
  }
}

extension Int8: ColumnStored {}
extension UInt8: ColumnStored {}
extension Int16: ColumnStored {}
extension UInt16: ColumnStored {}
extension Int32: ColumnStored {}
extension UInt32: ColumnStored {}
extension Int64: ColumnStored {}
extension UInt64: ColumnStored {}

extension Bool: ColumnStored {
  static func stored(_ column: ColumnValue, _ type: ValueType) -> Bool? {
    guard case .integer(let number) = column, type == .bool else { return nil }
    return number != 0
  }
}

extension Float: ColumnStored {
  static func stored(_ column: ColumnValue, _ type: ValueType) -> Float? {
    if case .real(let number) = column { Float(number) } else { nil }
  }
}

extension Double: ColumnStored {
  static func stored(_ column: ColumnValue, _ type: ValueType) -> Double? {
    if case .real(let number) = column { number } else { nil }
  }
}

extension String: ColumnStored {
  static func stored(_ column: ColumnValue, _ type: ValueType) -> String? {
    if case .text(let bytes) = column { String(decoding: bytes, as: UTF8.self) } else { nil }
  }
}

/// How a value is written to memory of its Swift type.
enum ColumnWriting: Sendable {
  case optional(any ColumnStored.Type)
  case required(any ColumnStored.Type)
  /// By code that knows the type; it throws for a required value that is unknown.
  case other(@Sendable (ColumnValue, UnsafeMutableRawPointer) throws -> Void)
}

/// Writes the values of columns to the places of a tuple.
struct TupleWriter: Sendable {
  /// A place in the tuple. It has no reference that would be counted for each row.
  private struct Part: Sendable {
    let offset: Int
    /// nil for `other`.
    let stored: (any ColumnStored.Type)?
    let type: ValueType
    let isRequired: Bool
  }

  /// What is rarely needed of a part.
  private struct Detail: Sendable {
    let writing: ColumnWriting
    let destroy: @Sendable (UnsafeMutableRawPointer) -> Void
    let unknown: @Sendable () -> any Error
  }

  private(set) var expressions: [ValueExpression] = []
  private var parts: [Part] = []
  private var details: [Detail] = []
  /// The size of the tuple.
  private(set) var end = 0

  /// Adds the next element of the tuple.
  /// - Parameter unknown: The error of a required value that is unknown.
  mutating func add<Value>(
    _ type: Value.Type, _ expression: ValueExpression, _ writing: ColumnWriting,
    unknown: @escaping @Sendable () -> any Error
  ) {
    let alignment = MemoryLayout<Value>.alignment
    let offset = (end + alignment - 1) / alignment * alignment
    end = offset + MemoryLayout<Value>.size
    let stored: (any ColumnStored.Type)? =
      switch writing {
      case .optional(let stored), .required(let stored): stored
      case .other: nil
      }
    let isRequired = if case .required = writing { true } else { false }
    expressions.append(expression)
    parts.append(
      Part(offset: offset, stored: stored, type: expression.type, isRequired: isRequired))
    details.append(
      Detail(
        writing: writing,
        destroy: { $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) },
        unknown: unknown))
  }

  /// Initializes a tuple. If it throws, nothing is initialized.
  @inline(__always)
  func write(
    _ columns: UnsafeBufferPointer<ColumnValue>, to tuple: UnsafeMutableRawPointer
  ) throws {
    try parts.withUnsafeBufferPointer { parts in
      for index in parts.indices {
        let part = parts[index]
        let place = tuple + part.offset
        if let stored = part.stored {
          if part.isRequired {
            if stored.store(columns[index], part.type, requiredAt: place) { continue }
          } else {
            stored.store(columns[index], part.type, optionalAt: place)
            continue
          }
        }
        try writeOther(index, columns[index], tuple)
      }
    }
  }

  /// Writes a value by the code that knows its type, or throws because it is unknown.
  @inline(never)
  private func writeOther(
    _ index: Int, _ column: ColumnValue, _ tuple: UnsafeMutableRawPointer
  ) throws {
    do {
      guard case .other(let write) = details[index].writing else { throw details[index].unknown() }
      try write(column, tuple + parts[index].offset)
    } catch {
      for earlier in 0..<index { details[earlier].destroy(tuple + parts[earlier].offset) }
      throw error
    }
  }
}

/// A growing list of tuples that are written in place. It owns them.
final class SelectedTuples {
  private typealias Move =
    (_ from: UnsafeMutableRawPointer, _ capacity: Int, _ count: Int) -> UnsafeMutableRawPointer

  private var start: UnsafeMutableRawPointer
  private var capacity = 16
  private var count = 0
  private let stride: Int
  /// Moves tuples to new memory.
  private let move: Move
  private let destroy: (UnsafeMutableRawPointer, _ count: Int) -> Void

  init<Tuple>(of type: Tuple.Type) {
    stride = MemoryLayout<Tuple>.stride
    start = UnsafeMutableRawPointer(UnsafeMutablePointer<Tuple>.allocate(capacity: 16))
    move = { old, capacity, count in
      let old = old.assumingMemoryBound(to: Tuple.self)
      let new = UnsafeMutablePointer<Tuple>.allocate(capacity: capacity)
      new.moveInitialize(from: old, count: count)
      old.deallocate()
      return UnsafeMutableRawPointer(new)
    }
    destroy = { memory, count in
      let memory = memory.assumingMemoryBound(to: Tuple.self)
      memory.deinitialize(count: count)
      memory.deallocate()
    }
  }

  deinit { destroy(start, count) }

  /// Memory for the next tuple.
  @inline(__always)
  var next: UnsafeMutableRawPointer {
    if count == capacity { grow() }
    return start + count &* stride
  }

  /// Counts the tuple that was written to `next`.
  @inline(__always)
  func append() { count &+= 1 }

  @inline(never)
  private func grow() {
    capacity *= 2
    start = move(start, capacity, count)
  }

  /// Moves the tuples out.
  /// - Parameter type: The type that the list was made for.
  func take<Tuple>(_ type: Tuple.Type) -> [Tuple] {
    let number = count
    count = 0
    return [Tuple](unsafeUninitializedCapacity: number) { memory, count in
      memory.baseAddress?.moveInitialize(
        from: start.assumingMemoryBound(to: Tuple.self), count: number)
      count = number
    }
  }
}
