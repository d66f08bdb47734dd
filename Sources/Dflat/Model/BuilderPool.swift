// A few builders, kept between uses, so that building a row allocates only the row.
//
// The builder that was given back last lies in a place of its own, from which it is taken by one
// atomic operation. A thread that does not find it there looks at the others, under a lock.

public import FlatBuffersRuntime
import Platform

@usableFromInline
enum BuilderPool {
  /// Unchecked: a builder is in the pool or in one caller's hands, never both, and the pool's mutex lies between.
  private struct Idle: @unchecked Sendable {
    let builder: FlatBufferBuilder
  }

  /// Owned by the pool. Unsafe as `Idle` is unchecked: the exchange lies between two callers.
  nonisolated(unsafe) private static let latest = Atomic<Unmanaged<FlatBufferBuilder>?>(nil)
  private static let idle = Mutex<[Idle]>([])
  private static let most = 8

  /// An empty builder that no other caller uses. The caller gives it back.
  @usableFromInline
  static func take() -> FlatBufferBuilder {
    if let latest = latest.exchange(nil, ordering: .acquiring) { return latest.takeRetainedValue() }
    return idle.withLock { $0.popLast() }?.builder ?? FlatBufferBuilder()
  }

  /// Takes a builder back, whatever was written to it.
  @usableFromInline
  static func giveBack(_ builder: consuming FlatBufferBuilder) {
    builder.reset()
    let before = latest.exchange(.passRetained(builder), ordering: .acquiringAndReleasing)
    guard let before else { return }
    let kept = Idle(builder: before.takeRetainedValue())
    idle.withLock { if $0.count < most { $0.append(kept) } }
  }

  /// Calls `body` with an empty builder that no other caller uses. Calls may nest.
  static func withBuilder<R>(_ body: (FlatBufferBuilder) throws -> R) rethrows -> R {
    let builder = take()
    defer { giveBack(builder) }
    return try body(builder)
  }
}
