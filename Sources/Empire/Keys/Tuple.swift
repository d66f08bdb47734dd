// Sequences of values: the keys and the fields of records.
//
// The bytes of a tuple are those of its elements in order, without framing.

/// A fixed sequence of values.
///
///     let key = Person.IndexKey("Lima", "Ana")     // Tuple<String, String>
///     let (city, name) = key.elements
///
/// `elements` of a tuple with one element is the value itself. Tuples may be nested.
public struct Tuple<each Element> {
  /// The values.
  public let elements: (repeat each Element)

  // Parameters are `__shared`: owned ones would be released in a loop over their types.

  /// Creates a tuple of these values.
  ///
  /// - Parameter value: The values.
  @inlinable
  public init(_ value: repeat __shared each Element) {
    elements = (repeat each value)
  }

  /// Creates a tuple from a Swift tuple.
  ///
  /// - Parameter value: The values.
  @inlinable
  @_disfavoredOverload
  public init(_ value: (repeat each Element)) {
    elements = (repeat each value)
  }
}

extension Tuple: Sendable where repeat each Element: Sendable {}

extension Tuple: Equatable where repeat each Element: Equatable {
  /// Whether all elements are equal.
  @inlinable
  public static func == (lhs: Self, rhs: Self) -> Bool {
    for (left, right) in repeat (each lhs.elements, each rhs.elements) {
      if left != right { return false }
    }
    return true
  }
}

extension Tuple: Hashable where repeat each Element: Hashable {
  /// Hashes all elements.
  ///
  /// - Parameter hasher: The hasher.
  @inlinable
  public func hash(into hasher: inout Hasher) {
    for element in repeat each elements { hasher.combine(element) }
  }
}

extension Tuple: Comparable where repeat each Element: Comparable {
  /// Compares the first pair of elements that differ.
  @inlinable
  public static func < (lhs: Self, rhs: Self) -> Bool {
    for (left, right) in repeat (each lhs.elements, each rhs.elements) {
      if left != right { return left < right }
    }
    return false
  }
}

extension Tuple: IndexKeyComparable where repeat each Element: IndexKeyComparable {
  /// The total number of components of all elements.
  @inlinable public static var keyComponentCount: Int {
    var count = 0
    for type in repeat (each Element).self { count += type.keyComponentCount }
    return count
  }
}

extension Tuple: CustomStringConvertible where repeat each Element: CustomStringConvertible {
  /// The elements' descriptions: `(a, b)`.
  public var description: String {
    var parts: [String] = []
    for element in repeat each elements { parts.append(element.description) }
    return "(" + parts.joined(separator: ", ") + ")"
  }
}

extension Tuple: Serializable where repeat each Element: Serializable {
  /// The sum of the elements' sizes.
  @inlinable public var serializedSize: Int {
    var size = 0
    for element in repeat each elements { size += element.serializedSize }
    return size
  }

  /// Writes the elements one after the other.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    for element in repeat each elements { element.serialize(into: &buffer) }
  }

  /// The sum of the elements' sizes as keys.
  @inlinable public var serializedKeySize: Int {
    var size = 0
    for element in repeat each elements { size += element.serializedKeySize }
    return size
  }

  /// Writes the elements one after the other, as keys.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    for element in repeat each elements { element.serializeKey(into: &buffer) }
  }

  /// Writes the elements one after the other, as keys.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    repeat (each elements).serializeKey(to: &writer)
  }

  /// Checks all elements.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why one of them cannot be stored.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    for element in repeat each elements { try element.validate(as: form) }
  }

  /// Whether the types of all elements do so.
  @inlinable public static var keepsValuesDistinct: Bool {
    for type in repeat (each Element).self { if !type.keepsValuesDistinct { return false } }
    return true
  }
}

extension Tuple: Deserializable where repeat each Element: Deserializable {
  /// Reads the elements one after the other.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the first one.
  /// - Throws: The error of the first element that cannot be read.
  /// - Returns: The tuple.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    Self(repeat try (each Element).unpack(with: &deserializer))
  }

  /// Reads the elements one after the other, as keys.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the first one.
  /// - Throws: The error of the first element that cannot be read.
  /// - Returns: The tuple.
  @inlinable
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    Self(repeat try (each Element).unpackKey(with: &deserializer))
  }
}

/// A value that can be the name of a record in CloudKit.
public protocol CloudKitRecordNameRepresentable {
  /// The name.
  var ckRecordName: String { get }
}

extension Tuple: CloudKitRecordNameRepresentable
where repeat each Element: CustomStringConvertible {
  /// The elements' descriptions, joined without a separator.
  ///
  /// Names can be ambiguous: `("a1", 1)` and `("a", 11)` have the same one.
  public var ckRecordName: String {
    var name = ""
    for element in repeat each elements { name += element.description }
    return name
  }
}
