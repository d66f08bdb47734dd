// Random changes of texts, for tests that give them to parsers.

extension SeededGenerator {
  /// Changes `bytes` in one place: a byte or a piece more, a part less or twice, another text's
  /// end, or cut off.
  ///
  /// - Parameters:
  ///   - bytes: What is changed.
  ///   - corpus: Other texts of the same kind.
  ///   - pieces: What has a meaning in such texts.
  public mutating func mutate(
    _ bytes: inout [UInt8], corpus: [[UInt8]], pieces: [[UInt8]]
  ) {
    let place = Int.random(in: 0...bytes.count, using: &self)
    let end = min(bytes.count, place + Int.random(in: 0...20, using: &self))
    switch Int.random(in: 0..<6, using: &self) {
    case 0:
      bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
    case 1:
      bytes.removeSubrange(place..<end)
    case 2:
      bytes.insert(contentsOf: pieces.randomElement(using: &self) ?? [], at: place)
    case 3:
      bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 4:
      let other = corpus.randomElement(using: &self) ?? []
      let cut = Int.random(in: 0...other.count, using: &self)
      bytes = Array(bytes[..<place]) + Array(other[cut...])
    default:
      bytes.removeLast(bytes.count - place)
    }
  }
}
