// Writes keys in one pass: each component checks itself and writes itself, if there is enough room.
//
// Invariants: the `room` bytes from `next` on may be written. After a failure `room` is negative,
// so nothing more is written.
//
// Failures are stored instead of thrown, because the compiler unrolls a loop over a tuple's
// elements only if nothing leaves it early.

public import Foundation
internal import StandardConformances

/// Why a key could not be written.
public enum KeyFailure: Error, Hashable, Sendable {
  /// There is not enough room.
  case tooLong
  /// A component could not be read back if it were written.
  case refused(SerializeError)
}

extension KeyFailure: LocalizedError, CustomStringConvertible {
  /// Why the key could not be written, and what to do.
  public var description: String {
    switch self {
    case .tooLong:
      sentence("the key does not fit the writer's buffer", advice: recoverySuggestion)
    case .refused(let error): error.description
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    switch self {
    case .tooLong: "use shorter components, or give the writer a larger buffer"
    case .refused(let error): error.recoverySuggestion
    }
  }
}

/// A buffer to which the components of a key are written one after the other.
///
/// After a component has failed, nothing more is written.
///
///     var writer = KeyWriter(room)
///     city.serializeKey(to: &writer)
///     name.serializeKey(to: &writer)
///     if let failure = writer.failure { throw failure }
public struct KeyWriter {
  @usableFromInline var next: UnsafeMutableRawPointer
  @usableFromInline var room: Int
  @usableFromInline var reason: KeyFailure?

  /// Creates a writer at the first byte of a buffer.
  ///
  /// - Parameter buffer: The buffer. It must not move while the writer is used.
  @inlinable
  public init(_ buffer: UnsafeMutableRawBufferPointer) {
    // A buffer without an address has no room, not even for an empty key.
    next = buffer.baseAddress ?? UnsafeMutableRawPointer(bitPattern: -1)!
    room = buffer.baseAddress == nil ? -1 : buffer.count
  }

  /// The number of remaining bytes; negative after a failure.
  @inlinable public var remaining: Int { room }

  /// The first failure; nil if there was none.
  @inlinable public var failure: KeyFailure? { room < 0 ? reason ?? .tooLong : nil }

  /// Rejects a component.
  ///
  /// - Parameter error: The reason.
  public mutating func refuse(_ error: SerializeError) { fail(.refused(error)) }

  @usableFromInline
  mutating func fail(_ failure: KeyFailure) {
    if room >= 0 { reason = failure }
    room = -1
  }

  /// Writes the memory of a value.
  ///
  /// - Parameter value: The value, in the byte order of the key.
  @inlinable
  public mutating func write<Value: BitwiseCopyable>(_ value: Value) {
    let size = MemoryLayout<Value>.size
    guard size <= room else { return fail(.tooLong) }
    next.storeBytes(of: value, as: Value.self)
    next += size
    room &-= size
  }

  /// Writes bytes unchanged.
  ///
  /// - Parameter bytes: The bytes.
  @inlinable
  public mutating func write(bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= room else { return fail(.tooLong) }
    if let base = bytes.baseAddress { next.copyMemory(from: base, byteCount: bytes.count) }
    next += bytes.count
    room &-= bytes.count
  }

  /// Passes the next `size` bytes to a closure, which must write all of them.
  @inlinable
  mutating func write(size: Int, _ body: (inout UnsafeMutableRawBufferPointer) -> Void) {
    guard size <= room else { return fail(.tooLong) }
    var rest = UnsafeMutableRawBufferPointer(start: next, count: size)
    body(&rest)
    require(rest.isEmpty, "a component of a key has written fewer bytes than it has counted")
    next += size
    room &-= size
  }
}
