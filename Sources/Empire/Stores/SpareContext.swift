// A context whose transaction has ended, to be begun again, which is cheaper than to make a new one.
//
// Kept true: nobody else refers to a context that is kept here, so a program that has kept a context sees it end for ever, and whoever takes
// it may use it on any thread.

internal import Platform

/// A place for one context. A thread that finds it empty makes a new one, and one that finds it full drops its own.
final class SpareContext: Sendable {
  /// The address of a context that is held here; 0 if there is none.
  private let address = Atomic<UInt>(0)

  deinit { _ = take() }

  func take() -> ContextState? {
    let address = address.exchange(0, ordering: .acquiring)
    return UnsafeRawPointer(bitPattern: address).map {
      Unmanaged<ContextState>.fromOpaque($0).takeRetainedValue()
    }
  }

  /// Takes a context that its caller is about to forget, if there is room.
  func keep(_ state: ContextState) {
    let reference = Unmanaged.passRetained(state)
    let (isKept, _) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: reference.toOpaque()), ordering: .releasing)
    if !isKept { reference.release() }
  }
}
