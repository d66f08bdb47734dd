// Queries as ranges of sorted keys: the start, the direction and the end of a scan.
//
// An entry is compared with a bound only by as many bytes as the bound has, so the components after
// the queried one do not matter.

extension Query {
  /// Calls a closure with the bounds of each range of sorted keys that the query describes, until
  /// its limit is reached. All of its values are checked in any case.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records, for errors.
  ///   - order: The key or index that the components belong to, for errors.
  ///   - head: The bytes before the components.
  ///   - body: Receives the direction, both bounds, and how many more entries are wanted.
  @inlinable
  func forEachKeyRange<Record: IndexKeyRecord>(
    of recordType: Record.Type, _ order: ComponentOrder, head: some KeyHead,
    _ body: (
      ScanDirection, UnsafeRawBufferPointer, UnsafeRawBufferPointer, inout Int
    ) throws -> Void
  ) throws {
    var rest = limit ?? .max

    /// Calls a closure with the bytes of a bound: the head, the fixed components and a value.
    func withBound(_ value: Last?, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
      try withKey { writer in
        head.write(to: &writer)
        repeat (each components).serializeKey(to: &writer)
        value?.serializeKey(to: &writer)
      } failure: {
        keyError($0, recordType, order, parts(with: value))
      } body: {
        try body($0)
      }
    }

    /// Calls the body with both bounds. Checks the bounds even if no more entries are wanted.
    func withBounds(_ first: Last, _ second: Last?) throws {
      try withBound(first) { start in
        try withBound(second) { end in
          if rest > 0 { try body(last.direction, start, end, &rest) }
        }
      }
    }

    switch last {
    case .within(let values):
      try withBound(nil) { _ in }
      for value in values {
        try withBound(value) { if rest > 0 { try body(.atOrAbove, $0, $0, &rest) } }
      }
    case .range(let range): try withBounds(range.lowerBound, range.upperBound)
    case .closedRange(let range): try withBounds(range.lowerBound, range.upperBound)
    case .greaterThan(let value), .greaterOrEqual(let value), .lessThan(let value),
      .lessOrEqual(let value):
      try withBounds(value, nil)
    }
  }

  /// Whether the query has all components of the key.
  @inlinable
  func isComplete<Record: IndexKeyRecord>(for recordType: Record.Type) -> Bool {
    var count = Last.keyComponentCount
    for type in repeat (each Component).self { count += type.keyComponentCount }
    return count == Record.IndexKey.keyComponentCount
  }

  /// Whether the query is a list of values.
  @inlinable var isList: Bool { if case .within = last { true } else { false } }

  /// The fixed components and a value, for errors.
  @usableFromInline
  func parts(with value: Last?) -> [any Serializable] {
    var parts: [any Serializable] = []
    for component in repeat each components { parts.append(component) }
    if let value { parts.append(value) }
    return parts
  }
}

/// The bytes before the components of a key.
@usableFromInline
protocol KeyHead {
  func write(to writer: inout KeyWriter)
}

/// The tag of a type, before the keys of its records.
extension IndexKeyRecordHash: KeyHead {
  @inlinable func write(to writer: inout KeyWriter) { writer.write(bigEndian) }
}

/// Any bytes, before the entries of an index.
extension [UInt8]: KeyHead {
  @inlinable func write(to writer: inout KeyWriter) { withUnsafeBytes { writer.write(bytes: $0) } }
}

/// The direction of a scan, and which bounds it includes.
@usableFromInline
enum ScanDirection: Sendable {
  case above, atOrAbove, below, atOrBelow
  /// Ascending, without the end.
  case upTo
}

extension ComparisonOperator where Value: QueryComponent {
  /// The direction in which the operator scans the keys.
  @inlinable var direction: ScanDirection {
    switch self {
    case .greaterThan: .above
    case .greaterOrEqual, .within, .closedRange: .atOrAbove
    case .range: .upTo
    case .lessThan: .below
    case .lessOrEqual: .atOrBelow
    }
  }
}
