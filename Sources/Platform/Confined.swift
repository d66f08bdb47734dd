// Confinement: state that needs no lock, because other code keeps an order between its users.
//
// Some state is used by one thread at a time although no lock guards it: a queue runs its jobs one
// by one, a lease has one holder, an object is handed on. The compiler cannot see such an order.
// These types are the places where it is claimed; a property of one of them says in its comment
// what keeps the order. Debug builds find a thread that breaks it. Inlinable, because other modules
// use them for each row.

/// A value that one thread at a time uses.
///
/// Unchecked: the owner keeps the order. Debug builds trap if a second thread comes while a first
/// one uses the value.
@usableFromInline
package final class Confined<Value: ~Copyable>: @unchecked Sendable {
  // What debug builds check includes exclusivity.
  @exclusivity(unchecked) @usableFromInline var value: Value
  #if DEBUG
    @usableFromInline let user = Atomic<UInt>(0)
  #endif

  @inlinable
  package init(_ value: consuming sending Value) {
    self.value = value
  }

  /// Confines an object that its owner goes on using, in the same order.
  @inlinable
  package init(shared value: consuming Value) where Value: AnyObject {
    self.value = value
  }

  /// Calls `body` with the value. Calls on one value are not nested.
  @inlinable @inline(__always)
  package func withValue<R: ~Copyable, E: Error>(
    _ body: (inout Value) throws(E) -> R
  ) throws(E) -> R {
    #if DEBUG
      let before = user.exchange(ThreadIdentity.current.number, ordering: .acquiringAndReleasing)
      precondition(before == 0, "a confined value is used twice at the same time")
      defer { user.store(0, ordering: .releasing) }
    #endif
    return try body(&value)
  }
}

/// A place where one thread leaves an object for another one, which then owns it alone.
///
/// The object may be of a type that is not `Sendable`, since ownership passes through an atomic
/// exchange. The thread that leaves an object keeps no reference to it.
@frozen
@usableFromInline
package struct Handoff<Object: AnyObject>: ~Copyable, Sendable {
  /// The address of the object, which is retained; 0 for none.
  @usableFromInline let place = Atomic<UInt>(0)

  @inlinable
  package init() {}

  @inlinable
  deinit { _ = take() }

  /// Takes the object away, if there is one.
  @inlinable
  package func take() -> Object? {
    Self.object(place.exchange(0, ordering: .acquiring))
  }

  /// Leaves an object.
  /// - Returns: The object that was there before.
  @inlinable
  package func leave(_ object: consuming Object) -> Object? {
    leave(.passRetained(object))
  }

  /// Leaves an object that is retained already.
  /// - Returns: The object that was there before.
  @inlinable
  package func leave(_ object: Unmanaged<Object>) -> Object? {
    let address = UInt(bitPattern: object.toOpaque())
    return Self.object(place.exchange(address, ordering: .acquiringAndReleasing))
  }

  @inlinable
  static func object(_ address: UInt) -> Object? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0).takeRetainedValue() }
  }
}
