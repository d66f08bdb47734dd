// Case folding gives the lowercase mapping of each scalar, and leaves other bytes as they are.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Case folding")
struct CaseFoldingTests {
  private func folded(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { text in CaseFolding.withFolded(text) { Array($0) } }
  }

  /// The dullest way: scalar by scalar.
  private func expected(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var position = 0
    bytes.withUnsafeBytes { text in
      while position < text.count {
        if let (scalar, size) = CaseFolding.scalar(in: text, at: position) {
          result += Array(scalar.properties.lowercaseMapping.utf8)
          position += size
        } else {
          result.append(text[position])
          position += 1
        }
      }
    }
    return result
  }

  @Test("Every scalar is replaced by its lowercase mapping")
  func everyScalar() {
    for code in 1...0x10FFFF as ClosedRange<UInt32> {
      // Beyond these planes nothing is assigned that could have a case.
      if code > 0x323FF, code < 0xE0000 || code > 0xE01FF { continue }
      guard let scalar = Unicode.Scalar(code) else { continue }
      let mapping = Array(scalar.properties.lowercaseMapping.utf8)
      if folded(Array(String(scalar).utf8)) != mapping {
        Issue.record(
          "U+\(String(code, radix: 16)) is folded to \(folded(Array(String(scalar).utf8)))")
        return
      }
    }
  }

  @Test("Texts of any bytes are folded as scalar by scalar")
  func texts() {
    withSeed { random in
      let pieces = [
        "a", "Z", "@", "[", "{", "ABCdefGH", "abcdefghIJKLMNOP", "é", "É", "İ", "ẞ", "Σ", "日本", "한",
        "Ａ", "🎉", "\u{10400}", "\u{A640}", "\u{2C2F}", "\u{1E900}", "\0",
      ].map { Array($0.utf8) }
      for _ in 0..<3000 {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          bytes +=
            random.oneIn(6) ? [UInt8.random(in: 0...255, using: &random)] : random.pick(pieces)
        }
        guard folded(bytes) == expected(bytes) else {
          Issue.record("DFLAT_SEED=\(random.seed): \(bytes) is folded to \(folded(bytes))")
          return
        }
      }
    }
  }
}
