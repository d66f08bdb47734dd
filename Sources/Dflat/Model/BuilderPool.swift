// A few builders, kept between uses, so that building a row allocates only the row.

public import FlatBuffersRuntime
import Synchronization

@usableFromInline
enum BuilderPool {
  /// Unchecked: a builder is in the pool or in one caller's hands, never both, and the pool's mutex lies between.
  private struct Idle: @unchecked Sendable {
    let builder: FlatBufferBuilder
  }

  private static let idle = Mutex<[Idle]>([])
  private static let most = 8

  /// Calls `body` with a builder that is empty and nobody else's. Calls may nest.
  @usableFromInline
  static func withBuilder<R>(_ body: (FlatBufferBuilder) throws -> R) rethrows -> R {
    let builder = idle.withLock { $0.popLast() }?.builder ?? FlatBufferBuilder()
    defer {
      builder.reset()
      let kept = Idle(builder: builder)
      idle.withLock { if $0.count < most { $0.append(kept) } }
    }
    return try body(builder)
  }
}
