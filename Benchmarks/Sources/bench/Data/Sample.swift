// The objects that every case stores, as Swift values: what a program holds before Dflat sees it.
//
// They depend on the number alone, so every run and every machine stores the same bytes:
//
//  - titles of 8 to 40 bytes, all different, in no particular order;
//  - texts, tags and names of images of 20 to 200 bytes; every tenth object without a tag, every twelfth without content,
//    every eighth without a position;
//  - three of four contents are texts, one is a list of one to five images;
//  - priorities 1 to 50, but 51 to 100 for every sixth object.

/// An object before it is stored.
struct Sample: Sendable {
  var title: String
  var pos: Vec3?
  var color: Color
  var content: Content?
  var tag: String?
  var priority: Int32

  /// What a query for an unindexed property asks for: every sixth object.
  static let highPriority: Int32 = 50

  static func make(_ count: Int) -> [Sample] {
    var random = Random(seed: 0x5EED)
    return (0..<count).map { Sample($0, &random) }
  }

  init(_ number: Int, _ random: inout Random) {
    // The number's digits, most varied first, keep titles different and their order unlike that of insertion.
    let name = String(String(number + 1_000_000).reversed())
    title = name + " " + random.text(0...32)
    pos =
      number % 8 == 7 ? nil : Vec3(x: random.float(), y: random.float(), z: random.float())
    color = [Color.red, .green, .blue][random.number(0...2)]
    switch number % 12 {
    case 11: content = nil
    case 2, 5, 8:
      let count = random.number(1...5)
      content = .imageContent(
        ImageContent(images: (0..<count).map { _ in random.text(20...200) }))
    default: content = .textContent(TextContent(text: random.text(20...200)))
    }
    tag = number % 10 == 9 ? nil : random.text(20...200)
    priority = Int32(number % 6 == 0 ? random.number(51...100) : random.number(1...50))
  }
}

/// SplitMix64: small, fast, the same everywhere.
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

  /// Lower-case words of a length within the range, in bytes.
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
