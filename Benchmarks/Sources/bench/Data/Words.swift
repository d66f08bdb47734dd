// The words of texts that are searched.
//
// Texts are made of 2,000 words, the more frequent the smaller their numbers: the tenth word is in
// about every ninth article, the hundredth in every fortieth. Each text also has one of as many
// rare words as there are hundreds of articles, so about a hundred articles have the same.

enum Words {
  static let count = 2000

  /// A word with a frequency that its number tells.
  static func common(_ number: Int) -> String {
    var random = Random(seed: UInt64(number))
    let letters = (0..<random.number(3...8)).map { _ in UInt8(97 + random.number(0...25)) }
    return String(decoding: letters, as: UTF8.self) + "\(number)"
  }

  static func rare(_ number: Int) -> String { "rare\(number)" }

  static func text(_ length: ClosedRange<Int>, _ words: [String], _ random: inout Random) -> String
  {
    let wanted = random.number(length)
    var text = ""
    while text.utf8.count < wanted {
      let part = Double(random.number(0...999_999)) / 1_000_000
      text += (text.isEmpty ? "" : " ") + words[Int(part * part * part * Double(count))]
    }
    return text
  }
}
