// KeyValues: a primary key as untyped values.

/// The values of a primary key's fields, in order.
public struct KeyValues: Sendable {
  /// The value of the first field.
  @usableFromInline package let first: Value
  /// The values of the other fields.
  @usableFromInline package let rest: [Value]

  /// Creates a key from its values.
  @inlinable
  package init(first: Value, rest: [Value]) {
    self.first = first
    self.rest = rest
  }
}

extension KeyValues {
  /// Creates a key from the values of its fields, of which there is at least one.
  /// - Returns: nil if one of the values is unknown.
  @inline(__always)
  init?(count: Int, _ value: (_ place: Int) -> Value?) {
    guard let first = value(0) else { return nil }
    var rest: [Value] = []
    for place in 1..<max(1, count) {
      guard let value = value(place) else { return nil }
      rest.append(value)
    }
    self.init(first: first, rest: rest)
  }

  /// The value of the n-th field.
  subscript(place: Int) -> Value { place == 0 ? first : rest[place - 1] }
}

extension KeyValues: Hashable {
  /// Compares the values. Strings are compared by their bytes.
  public static func == (lhs: KeyValues, rhs: KeyValues) -> Bool {
    lhs.first.isSamePart(rhs.first) && lhs.rest.count == rhs.rest.count
      && zip(lhs.rest, rhs.rest).allSatisfy { $0.isSamePart($1) }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    first.hashPart(into: &hasher)
    for value in rest { value.hashPart(into: &hasher) }
  }
}

extension Value {
  /// Whether two values of one key field are the same.
  fileprivate func isSamePart(_ other: Value) -> Bool {
    switch (self, other) {
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.real(let left), .real(let right)): left == right
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }

  fileprivate func hashPart(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .string(var text):
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(text.utf8.count)
    }
  }
}
