// Keys in one pass: each component checks itself and writes itself, if there is room.
//
// Kept true: the `room` bytes from `next` on may be written; after a failure `room` is negative, so nothing is written any more.
//
// Failures are kept instead of thrown, because the compiler takes a loop over a tuple's elements apart only if nothing leaves it early.

public import Foundation
internal import StandardConformances

/// Why a key could not be written.
public enum KeyFailure: Error, Hashable, Sendable {
  /// There is not enough room.
  case tooLong
  /// A component cannot be written so that it can be read back.
  case refused(SerializeError)
}

extension KeyFailure: LocalizedError, CustomStringConvertible {
  /// Why the key could not be written, and what to do.
  public var description: String {
    switch self {
    case .tooLong:
      sentence("the key has more bytes than there is room for", advice: recoverySuggestion)
    case .refused(let error): error.description
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    switch self {
    case .tooLong: "use shorter components, or give the writer more room"
    case .refused(let error): error.recoverySuggestion
    }
  }
}

/// Room for a key, whose components are written one after the other.
///
/// After a component that fails nothing is written any more.
///
///     var writer = KeyWriter(room)
///     city.serializeKey(to: &writer)
///     name.serializeKey(to: &writer)
///     if let failure = writer.failure { throw failure }
public struct KeyWriter {
  @usableFromInline var next: UnsafeMutableRawPointer
  @usableFromInline var room: Int
  @usableFromInline var reason: KeyFailure?

  /// Begins at the first byte of a buffer.
  ///
  /// - Parameter buffer: The room. It must stay where it is while the writer is used.
  @inlinable
  public init(_ buffer: UnsafeMutableRawBufferPointer) {
    // Without an address there is no room, also not for nothing.
    next = buffer.baseAddress ?? UnsafeMutableRawPointer(bitPattern: -1)!
    room = buffer.baseAddress == nil ? -1 : buffer.count
  }

  /// The number of bytes that are left; negative after a failure.
  @inlinable public var remaining: Int { room }

  /// What went wrong first; nil if nothing did.
  @inlinable public var failure: KeyFailure? { room < 0 ? reason ?? .tooLong : nil }

  /// Refuses a component.
  ///
  /// - Parameter error: What is wrong with it.
  public mutating func refuse(_ error: SerializeError) { fail(.refused(error)) }

  @usableFromInline
  mutating func fail(_ failure: KeyFailure) {
    if room >= 0 { reason = failure }
    room = -1
  }

  /// Writes the memory of a value.
  ///
  /// - Parameter value: The value, in the byte order that the key is to have.
  @inlinable
  public mutating func write<Value: BitwiseCopyable>(_ value: Value) {
    let size = MemoryLayout<Value>.size
    guard size <= room else { return fail(.tooLong) }
    next.storeBytes(of: value, as: Value.self)
    next += size
    room &-= size
  }

  /// Writes bytes as they are.
  ///
  /// - Parameter bytes: The bytes.
  @inlinable
  public mutating func write(bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= room else { return fail(.tooLong) }
    if let base = bytes.baseAddress { next.copyMemory(from: base, byteCount: bytes.count) }
    next += bytes.count
    room &-= bytes.count
  }

  /// Gives room to a closure that writes all of it.
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
