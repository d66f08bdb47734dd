// Reproducible random numbers.

/// A small random generator (SplitMix64) whose seed can be printed and reused.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The initial seed.
  public let seed: UInt64
  private var state: UInt64

  /// Creates a generator. Equal seeds give equal numbers.
  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// True once in `count` times, on average.
  public mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  /// A random element. The collection must not be empty.
  public mutating func pick<C: Collection>(_ choices: C) -> C.Element {
    choices.randomElement(using: &self)!
  }
}
