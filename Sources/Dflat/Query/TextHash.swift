// TextHash: strings as 64-bit numbers, for hash tables.
//
// The string is read eight bytes at a time; each step multiplies and folds both halves of the
// product together, and the last eight bytes may overlap those before. Which strings collide
// depends on two random numbers, so an attacker cannot choose colliding strings.

struct TextHash {
  private let start = UInt64.random(in: .min ... .max)
  private let multiplier: UInt64

  init() {
    multiplier = .random(in: .min ... .max) | 1
  }

  /// With 0 all hashes are equal, for tests of collisions.
  init(multiplier: UInt64) {
    self.multiplier = multiplier
  }

  @inline(__always)
  func callAsFunction(_ text: UnsafeRawBufferPointer) -> UInt64 {
    var hash = mixed(start ^ UInt64(truncatingIfNeeded: text.count))
    guard let bytes = text.baseAddress else { return hash }
    if text.count < 8 {
      var all: UInt64 = 0
      for place in 0..<text.count {
        all = all << 8 | UInt64(bytes.load(fromByteOffset: place, as: UInt8.self))
      }
      return mixed(hash ^ all)
    }
    let last = text.count &- 8
    var place = 0
    while place < last {
      hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place &+= 8
    }
    return mixed(hash ^ bytes.loadUnaligned(fromByteOffset: last, as: UInt64.self))
  }

  /// The hash of several values of which the last one is a number, or the hash of a text.
  /// - Parameter hash: That of the values before it; 0 if it is the first one.
  @inline(__always)
  func adding(_ value: UInt64, to hash: UInt64) -> UInt64 { mixed(start ^ hash ^ value) }

  @inline(__always)
  private func mixed(_ bits: UInt64) -> UInt64 {
    let (high, low) = bits.multipliedFullWidth(by: multiplier)
    return high ^ low
  }
}
