// The size limits of an environment.

/// The size of an environment's memory map, which limits how much it can store.
///
/// The map uses address space, not memory or disk space: the file is only as large as its contents.
/// Sizes are in bytes and are rounded up to whole pages. A file that is already larger keeps its
/// size.
public struct MapSize: Sendable, Hashable {
  /// The size of the map when the environment is opened.
  public let initial: Int
  /// The maximum size of the map. If it equals `initial`, the map does not grow.
  public let maximum: Int

  /// A map of fixed size. When it is full, writing throws `MDBError.failure(-30792, …)`, and so may
  /// deleting: emptying a full map needs a larger one.
  ///
  /// - Parameter size: In bytes, more than 0.
  /// - Returns: The size.
  public static func fixed(_ size: Int) -> MapSize { MapSize(initial: size, maximum: size) }

  /// A map that doubles when it is full.
  ///
  /// - Parameters:
  ///   - initial: In bytes, more than 0.
  ///   - maximum: In bytes. When a map of this size is full, writing throws
  ///     `MDBError.failure(-30792, …)`.
  /// - Returns: The size.
  public static func growing(from initial: Int, to maximum: Int = .max) -> MapSize {
    MapSize(initial: initial, maximum: max(initial, maximum))
  }

  /// A fixed size of 256 MiB, the default of an `Environment`.
  public static let standard = MapSize.fixed(256 << 20)

  private init(initial: Int, maximum: Int) {
    guard initial > 0 else { fatalError("MapSize: the size of a map must be more than 0 bytes") }
    self.initial = initial
    self.maximum = maximum
  }
}
