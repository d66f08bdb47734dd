// What can be written as packed bytes.
//
// A value has two forms, which are the same bytes for almost every type: the *field* form, and the
// *key* form, whose order as unsigned bytes is the order of the values and which ends by itself.
// Integers of several bytes are big-endian in both. Writing does not fail; `validate(as:)` tells
// beforehand which values have no bytes that could be read back.

/// What bytes are for.
public enum SerializedForm: Sendable, Hashable {
  /// Bytes that are kept in order: part of a key.
  case key
  /// Bytes that are only read back.
  case field
}

/// A value with packed bytes.
///
/// A conforming type of several values sums up their sizes and writes them one after the other:
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
/// The requirements about keys have defaults that use the field form. A type that contains `Data` and is part of keys
/// implements them, too, with the members' `serializedKeySize` and `serializeKey(into:)`. A type that contains strings or dates
/// and wants mistakes to be refused passes `validate(as:)` on to them.
public protocol Serializable {
  /// The number of bytes that `serialize(into:)` writes.
  var serializedSize: Int { get }

  /// Writes exactly `serializedSize` bytes at the start of a buffer.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer)

  /// The number of bytes that `serializeKey(into:)` writes.
  var serializedKeySize: Int { get }

  /// Writes exactly `serializedKeySize` bytes at the start of a buffer: the form whose order is the order of the values.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer)

  /// Checks that the bytes of this value can be read back as this value.
  ///
  /// - Parameter form: What the bytes are for.
  /// - Throws: What is wrong with the value.
  func validate(as form: SerializedForm) throws(SerializeError)

  /// Checks the value and writes it as `serializeKey(into:)` does, if there is room.
  ///
  /// The default calls `validate(as:)`, `serializedKeySize` and `serializeKey(into:)`. To do all three at once is faster.
  ///
  /// - Parameter writer: Where to write, or to say why not.
  func serializeKey(to writer: inout KeyWriter)
}

extension Serializable {
  /// The size of the field form.
  @inlinable public var serializedKeySize: Int { serializedSize }

  /// Writes the field form.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    serialize(into: &buffer)
  }

  /// Every value is fine.
  ///
  /// - Parameter form: What the bytes are for.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {}

  /// Checks the value, counts its bytes and writes them.
  ///
  /// - Parameter writer: Where to write, or to say why not.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    do throws(SerializeError) { try validate(as: .key) } catch { return writer.refuse(error) }
    writer.write(size: serializedKeySize) { serializeKey(into: &$0) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Drops the first bytes, which have been written.
  ///
  /// Stops the program if there are fewer: a type has written more bytes than it counted.
  @inlinable
  mutating func dropWritten(_ count: Int) {
    guard let base = baseAddress, count <= self.count else {
      require(count == 0, "a value was serialized into a buffer with too little room")
      return
    }
    self = UnsafeMutableRawBufferPointer(start: base + count, count: self.count - count)
  }

  /// Writes the memory of a value and drops it.
  @inlinable
  mutating func write<Value: BitwiseCopyable>(_ value: Value) {
    require(
      count >= MemoryLayout<Value>.size, "a value was serialized into a buffer with too little room"
    )
    storeBytes(of: value, as: Value.self)
    dropWritten(MemoryLayout<Value>.size)
  }

  /// Writes bytes and drops them.
  @inlinable
  mutating func write(_ bytes: UnsafeRawBufferPointer) {
    require(count >= bytes.count, "a value was serialized into a buffer with too little room")
    copyMemory(from: bytes)
    dropWritten(bytes.count)
  }
}

/// Stops the program with the name of a mistake in the calling program, in optimised builds as well.
@inlinable @inline(__always)
func require(_ isRight: Bool, _ message: @autoclosure () -> StaticString) {
  if !isRight { misuse(message()) }
}

@usableFromInline
func misuse(_ message: StaticString) -> Never { fatalError("\(message)") }
