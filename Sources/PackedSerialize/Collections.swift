// Arrays, sets and dictionaries: a count as a `UInt`, then the elements. No keys.
//
// Sets and dictionaries are written in the order of their elements' bytes, so equal ones have equal
// bytes.
//
// Elements may become equal when they are stored: dates in the same millisecond. Reading a set
// makes one of them, as if each had been stored by itself. A dictionary would lose a value, so
// `validate(as:)` rejects it. Earlier versions stored such dictionaries: the last value is read.
// Where the type keeps its values distinct, equal elements in bytes are damage.
//
// Counts in untrusted bytes are not trusted: memory grows only with the elements that are actually
// read. Elements without bytes, of which any number would fit, are limited. `validate(as:)` rejects
// values that could not be read back.

/// The maximum number of elements without bytes in a collection.
@usableFromInline let maximumCountOfEmptyElements = 65_536

extension Array: Serializable where Element: Serializable {
  /// The elements' bytes, and 8 for their count.
  @inlinable public var serializedSize: Int {
    var size = 8
    for element in self { size += element.serializedSize }
    return size
  }

  /// Writes the count, then the elements.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    UInt(count).serialize(into: &buffer)
    for element in self { element.serialize(into: &buffer) }
  }

  /// Checks all elements.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why one of them cannot be stored; `tooManyEmptyElements` for more than
  ///   65,536 elements that have no bytes.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    for element in self { try element.validate(as: form) }
    try checkCount { $0.serializedSize }
  }

  /// Whether the elements' type does so.
  @inlinable public static var keepsValuesDistinct: Bool { Element.keepsValuesDistinct }
}

extension Collection {
  /// Throws if more elements have no bytes than are read.
  @inlinable
  func checkCount(_ size: (Element) -> Int) throws(SerializeError) {
    guard count > maximumCountOfEmptyElements else { return }
    let empty = reduce(0) { size($1) == 0 ? $0 + 1 : $0 }
    if empty > maximumCountOfEmptyElements { throw .tooManyEmptyElements(empty) }
  }
}

extension Array: Deserializable where Element: Deserializable {
  /// Reads a count, then that many elements.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the count.
  /// - Throws: `endOfBufferReached` for a count that does not fit, and the errors of reading an
  ///   element.
  /// - Returns: The elements.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending [Element] {
    var elements: [Element] = []
    try deserializer.forEachElement { (deserializer) throws(DeserializeError) in
      elements.append(try Element.unpack(with: &deserializer))
    }
    return elements
  }
}

extension Set: Serializable where Element: Serializable {
  /// The elements' bytes, and 8 for their count.
  @inlinable public var serializedSize: Int {
    reduce(8) { $0 + $1.serializedSize }
  }

  /// Writes the count, then the elements in the order of their bytes.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    UInt(count).serialize(into: &buffer)
    for bytes in map(packed).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      bytes.withUnsafeBytes { buffer.write($0) }
    }
  }

  /// Checks all elements. Those that become equal when they are stored are accepted: one of them is
  /// read back.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why one of them cannot be stored; `tooManyEmptyElements` for more than
  ///   65,536 elements that have no bytes.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    for element in self { try element.validate(as: form) }
    try checkCount { $0.serializedSize }
  }

  /// Whether the elements' type does so.
  @inlinable public static var keepsValuesDistinct: Bool { Element.keepsValuesDistinct }
}

extension Set: Deserializable where Element: Deserializable {
  /// Reads a count, then that many elements. Equal ones become one.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the count.
  /// - Throws: `endOfBufferReached` for a count that does not fit, `invalidValue` for equal
  ///   elements of a type that keeps its values distinct, and what reading an element throws.
  /// - Returns: The elements.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Set<Element> {
    var elements: Set<Element> = []
    try deserializer.forEachElement { (deserializer) throws(DeserializeError) in
      let element = try Element.unpack(with: &deserializer)
      if !elements.insert(element).inserted && isExact(Element.self) { throw .invalidValue }
    }
    return elements
  }
}

extension Dictionary: Serializable where Key: Serializable, Value: Serializable {
  /// The bytes of the keys and values, and 8 for their count.
  @inlinable public var serializedSize: Int {
    reduce(8) { $0 + $1.key.serializedSize + $1.value.serializedSize }
  }

  /// Writes the count, then each key with its value, in the order of the keys' bytes.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    UInt(count).serialize(into: &buffer)
    let pairs = map { (key: packed($0.key), value: $0.value) }
    for pair in pairs.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      pair.key.withUnsafeBytes { buffer.write($0) }
      pair.value.serialize(into: &buffer)
    }
  }

  /// Checks all keys and values, and that the keys remain distinct.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why one of them cannot be stored; `equalKeys` for keys that become equal;
  ///   `tooManyEmptyElements` for more than 65,536 keys that have no bytes, nor their values.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    for (key, value) in self {
      try key.validate(as: form)
      try value.validate(as: form)
    }
    if Key.keepsValuesDistinct || count < 2 { return }
    try checkCount { $0.key.serializedSize + $0.value.serializedSize }
    if !isReadable(as: form) { throw .equalKeys }
  }

  /// Whether the types of keys and values do so.
  @inlinable public static var keepsValuesDistinct: Bool {
    Key.keepsValuesDistinct && Value.keepsValuesDistinct
  }
}

extension Dictionary: Deserializable where Key: Deserializable, Value: Deserializable {
  /// Reads a count, then that many keys with their values. Of equal keys, the last one remains.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the count.
  /// - Throws: `endOfBufferReached` for a count that does not fit, `invalidValue` for equal keys of
  ///   a type that keeps its values distinct, and what reading a key or value throws.
  /// - Returns: The dictionary.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending [Key: Value] {
    var pairs: [Key: Value] = [:]
    try deserializer.forEachElement { (deserializer) throws(DeserializeError) in
      let key = try Key.unpack(with: &deserializer)
      let value = try Value.unpack(with: &deserializer)
      if pairs.updateValue(value, forKey: key) != nil,
        deserializer.refusesEqualKeys || isExact(Key.self)
      {
        throw .invalidValue
      }
    }
    return pairs
  }
}

/// Whether values of a type that are read as equal ones were equal when they were written.
@inlinable
func isExact(_ type: any Deserializable.Type) -> Bool {
  (type as? any Serializable.Type)?.keepsValuesDistinct ?? false
}

/// The bytes of a value.
@inlinable
func packed(_ value: some Serializable) -> [UInt8] {
  let size = value.serializedSize
  return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
    var rest = UnsafeMutableRawBufferPointer(buffer)
    value.serialize(into: &rest)
    count = size - rest.count
  }
}

extension Deserializer {
  /// Reads a count and calls a closure that many times. Allocates nothing for the count.
  @inlinable
  mutating func forEachElement(
    _ read: (inout Deserializer) throws(DeserializeError) -> Void
  ) throws(DeserializeError) {
    guard let count = Int(exactly: try UInt64.unpack(with: &self)) else {
      return try throwEndOfBuffer(needing: .max)
    }
    var empty = 0
    for _ in 0..<count {
      let before = offset
      let isAtEnd = remaining == 0
      do { try read(&self) } catch {
        // The count is wrong, whatever an element finds there.
        if isAtEnd { try throwEndOfBuffer(needing: 1) }
        throw error
      }
      guard offset == before else { continue }
      empty += 1
      if empty > maximumCountOfEmptyElements { try throwEndOfBuffer(needing: count) }
    }
  }
}
