// A one-slot cache of finished read-only contexts. Restarting one is cheaper than creating a new
// one.
//
// Invariant: a context in the cache has no other references. A context that a program has kept
// therefore stays ended, and any thread may use the one that it takes.

internal import Platform

/// A slot for one context. A thread that finds it empty creates a context; a thread that finds it
/// full releases its own.
final class SpareContext: Sendable {
  /// The address of the retained context; 0 if there is none.
  private let address = Atomic<UInt>(0)

  deinit { _ = take() }

  func take() -> ContextState? {
    let address = address.exchange(0, ordering: .acquiring)
    return UnsafeRawPointer(bitPattern: address).map {
      Unmanaged<ContextState>.fromOpaque($0).takeRetainedValue()
    }
  }

  /// Keeps a context if the slot is empty. The caller must not use it afterwards.
  func keep(_ state: ContextState) {
    let reference = Unmanaged.passRetained(state)
    let (isKept, _) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: reference.toOpaque()), ordering: .releasing)
    if !isKept { reference.release() }
  }
}
