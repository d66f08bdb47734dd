// Reproducible random numbers.

/// SplitMix64: small, fast, and the same on every machine.
struct Random {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.count))
  }

  mutating func float() -> Float {
    Float(next() >> 40) / 65_536
  }

  /// Lower-case words with a total length in the given range, in bytes.
  mutating func text(_ length: ClosedRange<Int>) -> String {
    let count = number(length)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for _ in 0..<count {
      let letter = number(0...31)
      bytes.append(letter < 26 ? UInt8(97 + letter) : 32)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  mutating func shuffle<T>(_ values: inout [T]) {
    for index in values.indices.dropFirst().reversed() {
      values.swapAt(index, number(0...index))
    }
  }
}
