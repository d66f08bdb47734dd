// StoredKey: stored values as elements of sets and dictionaries.

/// A stored value in a set or dictionary: equal if the storage considers them equal.
package struct StoredKey: Hashable, Sendable {
  /// The value.
  package let value: Value

  /// The key of a value, which is not NaN.
  package init(_ value: Value) { self.value = value }

  /// Whether the storage takes both for equal: texts by their bytes, numbers by their value.
  package static func == (left: StoredKey, right: StoredKey) -> Bool {
    switch (left.value, right.value) {
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.string, _), (_, .string): false
    case (.real(let left), .real(let right)): left == right
    default: left.value.bits == right.value.bits
    }
  }

  /// Hashes what equality compares.
  package func hash(into hasher: inout Hasher) {
    switch value {
    case .string(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .real(let number): hasher.combine(number)
    default: hasher.combine(value.bits)
    }
  }
}
