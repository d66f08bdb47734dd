// BuilderPool: a few builders for reuse, so that building a row allocates only the row.
//
// A thread takes the builder that was returned last, if it is still there. If not, it looks for one
// of the others.

public import FlatBuffersRuntime
import Platform

@usableFromInline
enum BuilderPool {
  private static let latest = Handoff<FlatBufferBuilder>()
  private static let others = (0..<8).map { _ in Place() }

  private final class Place: Sendable {
    let builder = Handoff<FlatBufferBuilder>()
  }

  /// Takes an empty builder from the pool, retained. The caller returns it later.
  @usableFromInline
  static func take() -> Unmanaged<FlatBufferBuilder> {
    if let builder = latest.take() { return .passRetained(builder) }
    for place in others {
      if let builder = place.builder.take() { return .passRetained(builder) }
    }
    return .passRetained(FlatBufferBuilder(refusingMoreThan: FlatBufferBuilder.greatestSize))
  }

  /// Returns a builder to the pool, with any content.
  @usableFromInline
  static func giveBack(_ builder: Unmanaged<FlatBufferBuilder>) {
    builder._withUnsafeGuaranteedRef { $0.reset() }
    guard var spare = latest.leave(builder) else { return }
    for place in others {
      guard let next = place.builder.leave(spare) else { return }
      spare = next
    }
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
