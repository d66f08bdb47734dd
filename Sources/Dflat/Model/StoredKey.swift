// StoredKey: stored values as elements of sets and dictionaries.

/// A stored value in a set or dictionary: equal if the storage considers them equal.
struct StoredKey: Hashable, Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }

  static func == (left: StoredKey, right: StoredKey) -> Bool {
    switch (left.value, right.value) {
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.string, _), (_, .string): false
    case (.real(let left), .real(let right)): left == right
    default: left.value.bits == right.value.bits
    }
  }

  func hash(into hasher: inout Hasher) {
    switch value {
    case .string(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .real(let number): hasher.combine(number)
    default: hasher.combine(value.bits)
    }
  }
}
