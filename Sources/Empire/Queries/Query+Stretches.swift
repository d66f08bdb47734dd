// Queries as stretches of sorted bytes: where to begin, which way to go, where to stop.
//
// P is what stands before the components, with the fixed ones. Entries are compared with a bound by the bound's bytes, so what follows the
// queried component does not matter.

extension Query {
  /// Calls a closure with the bounds of each stretch of sorted keys that the query describes, until its limit is reached.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records, for errors.
  ///   - order: What the components are those of, for errors.
  ///   - head: What stands before the components.
  ///   - body: Gets how to go from the first bound to the second one, and how many entries are still wanted.
  @inlinable
  func forEachStretch<Record: IndexKeyRecord>(
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

    /// Calls the body with both bounds, which are checked also where nothing is wanted.
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
      for value in values where rest > 0 {
        try withBound(value) { try body(.atOrAbove, $0, $0, &rest) }
      }
    case .range(let range): try withBounds(range.lowerBound, range.upperBound)
    case .closedRange(let range): try withBounds(range.lowerBound, range.upperBound)
    case .greaterThan(let value), .greaterOrEqual(let value), .lessThan(let value),
      .lessOrEqual(let value):
      try withBounds(value, nil)
    }
  }

  /// Whether the components are all that a key has.
  @inlinable
  func isComplete<Record: IndexKeyRecord>(for recordType: Record.Type) -> Bool {
    var count = Last.keyComponentCount
    for type in repeat (each Component).self { count += type.keyComponentCount }
    return count == Record.IndexKey.keyComponentCount
  }

  /// Whether it is a list of values.
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

/// What stands before the components of keys.
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

/// How a scan goes from its start to its end.
@usableFromInline
enum ScanDirection: Sendable {
  case above, atOrAbove, below, atOrBelow
  /// Ascending, without the end.
  case upTo
}

extension ComparisonOperator where Value: QueryComponent {
  /// How the operator goes through the keys.
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
