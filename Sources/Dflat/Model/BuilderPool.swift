// BuilderPool: a few builders for reuse, so that building a row allocates only the row.
//
// The builder that was returned last is in a separate slot, from which an atomic operation takes
// it. If the slot is empty, a thread takes one of the others, under a lock.

public import FlatBuffersRuntime
import Platform

@usableFromInline
enum BuilderPool {
  /// Unchecked: a builder is owned either by the pool or by one caller, and ownership passes
  /// through the pool's mutex.
  private struct Idle: @unchecked Sendable {
    let builder: FlatBufferBuilder
  }

  /// Owned by the pool. Unsafe for the same reason as `Idle`: ownership passes through the atomic
  /// exchange.
  nonisolated(unsafe) private static let latest = Atomic<Unmanaged<FlatBufferBuilder>?>(nil)
  private static let idle = Mutex<[Idle]>([])
  private static let most = 8

  /// Takes an empty builder from the pool, retained. The caller returns it later.
  @usableFromInline
  static func take() -> Unmanaged<FlatBufferBuilder> {
    if let latest = latest.exchange(nil, ordering: .acquiring) { return latest }
    return .passRetained(idle.withLock { $0.popLast() }?.builder ?? FlatBufferBuilder())
  }

  /// Returns a builder to the pool, with any content.
  @usableFromInline
  static func giveBack(_ builder: Unmanaged<FlatBufferBuilder>) {
    builder._withUnsafeGuaranteedRef { $0.reset() }
    let before = latest.exchange(builder, ordering: .acquiringAndReleasing)
    guard let before else { return }
    let kept = Idle(builder: before.takeRetainedValue())
    idle.withLock { if $0.count < most { $0.append(kept) } }
  }

  /// Calls `body` with an empty builder from the pool. Calls may be nested.
  @inlinable @inline(__always)
  static func withBuilder<R>(_ body: (FlatBufferBuilder) throws -> R) rethrows -> R {
    let builder = take()
    defer { giveBack(builder) }
    // Counts no references: the builder is retained until it is returned.
    return try builder._withUnsafeGuaranteedRef { try body($0) }
  }
}
