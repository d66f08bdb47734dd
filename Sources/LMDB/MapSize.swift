// How large an environment may become.

/// How much memory map an environment has, and so how much it can store.
///
/// The map is address space, not memory and not disk: a file is as large as what it holds. Sizes are in bytes and are rounded
/// up to whole pages. A file that is larger already keeps its size.
public struct MapSize: Sendable, Hashable {
  /// What the map has when the environment is opened.
  public let initial: Int
  /// What it may grow to. Equal to `initial`, it does not grow.
  public let maximum: Int

  /// A map that stays as it is. When it is full, writing throws `MDBError.failure(-30792, …)`.
  ///
  /// - Parameter size: In bytes, more than 0.
  /// - Returns: The size.
  public static func fixed(_ size: Int) -> MapSize { MapSize(initial: size, maximum: size) }

  /// A map that doubles when it is full.
  ///
  /// - Parameters:
  ///   - initial: In bytes, more than 0.
  ///   - maximum: In bytes; a map of this size that is full makes writing throw `MDBError.failure(-30792, …)`.
  /// - Returns: The size.
  public static func growing(from initial: Int, to maximum: Int = .max) -> MapSize {
    MapSize(initial: initial, maximum: max(initial, maximum))
  }

  /// 256 MiB, and no more: what an `Environment` has unless it is told otherwise.
  public static let standard = MapSize.fixed(256 << 20)

  private init(initial: Int, maximum: Int) {
    guard initial > 0 else { fatalError("MapSize: the size of a map is more than 0 bytes") }
    self.initial = initial
    self.maximum = maximum
  }
}
