// The objects that every case stores, as Swift values: the program's data before it is passed to
// Dflat.
//
// They depend only on their number, so every run and every machine stores the same bytes:
//
//  - titles of 8 to 40 bytes, all different, in no particular order;
//  - texts, tags and image names of 20 to 200 bytes; every tenth object without a tag, every
//    twelfth without content, every eighth without a position;
//  - three of four contents are texts, one is a list of one to five images;
//  - priorities from 1 to 50, but from 51 to 100 for every sixth object.

/// An object before it is stored.
struct Sample: Sendable {
  var title: String
  var pos: Vec3?
  var color: Color
  var content: Content?
  var tag: String?
  var priority: Int32

  /// The condition of the query by an unindexed property: every sixth object satisfies it.
  static let highPriority: Int32 = 50

  static func make(_ count: Int) -> [Sample] {
    var random = Random(seed: 0x5EED)
    return (0..<count).map { Sample($0, &random) }
  }

  init(_ number: Int, _ random: inout Random) {
    // The number's digits, with the most varied one first, keep titles different and their order
    // unrelated to insertion.
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
