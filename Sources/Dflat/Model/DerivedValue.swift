// DerivedValue: what a higher floor makes of a schema or a descriptor, kept with it.
//
// The model does not know what is derived from it. It keeps a place, which is filled at the first
// use and does not change afterwards, so that the loops over rows find the value by one load.

import Platform

/// An object that is made once. Several threads may make it at the same time; all use the same one.
final class DerivedValue: Sendable {
  /// The address of the object, which is retained; 0 before it is made.
  private let address = Atomic<UInt>(0)

  deinit {
    let made = address.load(ordering: .acquiring)
    if made != 0 { Self.reference(made, to: AnyObject.self).release() }
  }

  /// The object. All callers ask for the same type.
  @inline(__always)
  func get<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value {
    let made = address.load(ordering: .acquiring)
    return made != 0 ? Self.reference(made, to: Value.self).takeUnretainedValue() : makeOnce(make)
  }

  private func makeOnce<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value {
    let value = make()
    let own = Unmanaged.passRetained(value)
    let (isOwn, other) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: own.toOpaque()), ordering: .acquiringAndReleasing)
    if isOwn { return value }
    own.release()
    return Self.reference(other, to: Value.self).takeUnretainedValue()
  }

  @inline(__always)
  private static func reference<Value: AnyObject>(
    _ address: UInt, to type: Value.Type
  ) -> Unmanaged<Value> {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else {
      preconditionFailure("no object has the address 0")
    }
    return Unmanaged.fromOpaque(pointer)
  }
}
