// Values that can be written as packed bytes.
//
// A value has two forms, which are the same for almost every type: the *field* form and the *key*
// form. The key form is self-delimiting, and its order as unsigned bytes is the order of the
// values. Multi-byte integers are big-endian in both. Writing does not fail; `validate(as:)` checks
// beforehand whether a value could be read back.

/// The purpose of serialized bytes.
public enum SerializedForm: Sendable, Hashable {
  /// Bytes that are sorted: part of a key.
  case key
  /// Bytes that are only read back.
  case field
}

/// A value that can be written as packed bytes.
///
/// A conforming type with several members adds up their sizes and writes them one after the other:
///
///     struct Point: Serializable {
///       var x: Int
///       var y: Int
///
///       var serializedSize: Int { x.serializedSize + y.serializedSize }
///       func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
///         x.serialize(into: &buffer)
///         y.serialize(into: &buffer)
///       }
///     }
///
/// The requirements for keys have defaults that use the field form. A type that contains `Data` and
/// is part of keys must implement them as well, with the members' `serializedKeySize` and
/// `serializeKey(into:)`. By default a value is written and read once to check that it can be
/// stored. A type that forwards `validate(as:)` to its members is faster, and its errors say more.
///
/// A type with a raw value only declares the conformance, and is written as the raw value. A
/// `Codable` type declares ``JSONSerializable`` instead.
///
/// Values are written and read on any thread. A type that declares the conformance therefore does
/// not belong to the main actor in a module whose types do by default.
public protocol Serializable: SendableMetatype {
  /// The number of bytes that `serialize(into:)` writes.
  var serializedSize: Int { get }

  /// Writes exactly `serializedSize` bytes at the start of a buffer.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer)

  /// The number of bytes that `serializeKey(into:)` writes.
  var serializedKeySize: Int { get }

  /// Writes exactly `serializedKeySize` bytes at the start of a buffer: the form whose order is the
  /// order of the values.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer)

  /// Checks that the bytes of this value can be read back as this value.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why the value cannot be stored.
  func validate(as form: SerializedForm) throws(SerializeError)

  /// Checks the value and writes it like `serializeKey(into:)`, if there is enough room.
  ///
  /// The default calls `validate(as:)`, `serializedKeySize` and `serializeKey(into:)`. An
  /// implementation that does all three at once is faster.
  ///
  /// - Parameter writer: The writer that receives the bytes or the failure.
  func serializeKey(to writer: inout KeyWriter)

  /// Whether values that are not equal are never read back as equal ones. The default is false.
  ///
  /// If it is true, sets and dictionaries of such values are neither checked for values that become
  /// equal when they are stored, nor read if there are any. It is false for `Date`, which keeps
  /// milliseconds, and for types of the program.
  static var keepsValuesDistinct: Bool { get }
}

extension Serializable {
  /// False: values that differ may have equal bytes.
  @inlinable public static var keepsValuesDistinct: Bool { false }

  /// The size of the field form.
  @inlinable public var serializedKeySize: Int { serializedSize }

  /// Writes the field form.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    serialize(into: &buffer)
  }

  /// Accepts a value whose bytes can be read: all of them, and no more. A value of a type that is
  /// not `Deserializable` is accepted.
  ///
  /// A string with a NUL in a value, for example, ends early, so that bytes are left. Of dates in
  /// one millisecond that are keys of a dictionary in it, only one would remain.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: `unreadable`.
  public func validate(as form: SerializedForm) throws(SerializeError) {
    if !isReadable(as: form) { throw .unreadable }
  }

  /// Whether the bytes of the value can be read: all of them, and all keys of dictionaries remain
  /// distinct. True if the type is not `Deserializable`.
  @usableFromInline
  func isReadable(as form: SerializedForm) -> Bool {
    guard let type = Self.self as? any Deserializable.Type else { return true }
    let size = form == .key ? serializedKeySize : serializedSize
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { bytes in
      var rest = bytes
      if form == .key { serializeKey(into: &rest) } else { serialize(into: &rest) }
      return type.canRead(bytes, as: form)
    }
  }

  /// Checks the value, counts its bytes and writes them.
  ///
  /// - Parameter writer: The writer that receives the bytes or the failure.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    do throws(SerializeError) { try validate(as: .key) } catch { return writer.refuse(error) }
    writer.write(size: serializedKeySize) { serializeKey(into: &$0) }
  }
}

extension Deserializable {
  /// Whether bytes are those of a value: all of them.
  fileprivate static func canRead(
    _ bytes: UnsafeMutableRawBufferPointer, as form: SerializedForm
  ) -> Bool {
    var deserializer = Deserializer(_unsafeBytes: bytes)
    deserializer.refusesEqualKeys = true
    do throws(DeserializeError) {
      _ = form == .key ? try unpackKey(with: &deserializer) : try unpack(with: &deserializer)
    } catch { return false }
    return deserializer.remaining == 0
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Advances the buffer past bytes that have been written.
  ///
  /// A fatal error if there are fewer: a type has written more bytes than it counted.
  @inlinable
  mutating func dropWritten(_ count: Int) {
    guard let base = baseAddress, count <= self.count else {
      require(count == 0, "a value was serialized into a buffer that is too small")
      return
    }
    self = UnsafeMutableRawBufferPointer(start: base + count, count: self.count - count)
  }

  /// Writes the memory of a value and advances past it.
  @inlinable
  mutating func write<Value: BitwiseCopyable>(_ value: Value) {
    require(
      count >= MemoryLayout<Value>.size, "a value was serialized into a buffer that is too small"
    )
    storeBytes(of: value, as: Value.self)
    dropWritten(MemoryLayout<Value>.size)
  }

  /// Writes bytes and advances past them.
  @inlinable
  mutating func write(_ bytes: UnsafeRawBufferPointer) {
    require(count >= bytes.count, "a value was serialized into a buffer that is too small")
    copyMemory(from: bytes)
    dropWritten(bytes.count)
  }
}

/// Stops the program with a message about a programming error, in optimised builds as well.
@inlinable @inline(__always)
func require(_ condition: Bool, _ message: @autoclosure () -> StaticString) {
  if !condition { misuse(message()) }
}

@usableFromInline
func misuse(_ message: StaticString) -> Never { fatalError("\(message)") }
