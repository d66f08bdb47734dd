// The folding of characters for searches against Foundation's normal forms.

import DflatTestSupport
import Foundation
import Testing

@testable import Dflat

@Suite("Folded characters")
struct CharacterFoldingTests {
  private func folded(_ text: String) -> [UInt32] {
    var text = text
    return text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      var (codes, position) = ([UInt32](), 0)
      while position < bytes.count {
        let code = CharacterFolding.character(in: bytes, at: &position)
        if code != 0 { codes.append(code) }
      }
      return codes
    }
  }

  /// The scripts whose letters are folded.
  private static let letters = [0x80...0x52F, 0x1E00...0x1FFF, 0x212A...0x212B, 0x3041...0x30FF]
    .flatMap { ($0 as ClosedRange<UInt32>).compactMap { Unicode.Scalar($0) } }
    // U+0374 is a sign of numbers.
    .filter { $0.properties.isAlphabetic && $0.value != 0x374 }

  @Test("A letter is the same in each normal form, and has no accent")
  func normalForms() {
    for letter in Self.letters {
      let (composed, form) = (String(letter), folded(String(letter)))
      #expect(folded(composed.decomposedStringWithCanonicalMapping) == form, "\(composed)")
      #expect(folded(composed.precomposedStringWithCanonicalMapping) == form, "\(composed)")
      #expect(folded("x\(composed)y") == [0x78] + form + [0x79], "\(composed)")
      let scalars = form.compactMap { Unicode.Scalar($0).map { String($0) } }.joined()
      #expect(
        !scalars.decomposedStringWithCanonicalMapping.unicodeScalars.contains {
          0x300...0x333 ~= $0.value || 0x339...0x36F ~= $0.value
        }, "\(composed)")
      let plain = composed.decomposedStringWithCanonicalMapping.unicodeScalars
      if let first = plain.first, first.isASCII, plain.count > 1 {
        #expect(form == [first.value | 0x20], "\(composed)")
      }
    }
  }

  @Test("A character of full or half width is the one of usual width")
  func width() {
    for code in 0xFF01...0xFFEE as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(code), scalar.properties.generalCategory != .unassigned
      else { continue }
      let codes = folded(String(scalar))
      let form = codes.compactMap { Unicode.Scalar($0).map { String($0) } }.joined()
      let usual = String(scalar).precomposedStringWithCompatibilityMapping.lowercased()
      #expect(form.precomposedStringWithCompatibilityMapping == usual, "\(code)")
      #expect(!(0xFF01...0xFFEE ~= codes[0]), "\(code)")
    }
    #expect(folded("\u{3000}") == [0x20] && folded("ＡＢ") == [0x61, 0x62])
  }

  @Test("A kana with a sound mark is one character")
  func kana() {
    let marks = ["\u{3099}", "\u{309A}", "\u{FF9E}", "\u{FF9F}"]
    for code in Array(0x3041...0x30FF) + Array(0xFF66...0xFF9D) as [UInt32] {
      guard let scalar = Unicode.Scalar(code) else { continue }
      for mark in marks {
        #expect(folded("\(scalar)\(mark)x") == foldedScalars("\(scalar)\(mark)x"), "\(code)")
      }
    }
  }

  @Test("Signs that are struck through, and accents without a letter")
  func signs() {
    #expect(folded("≠") == [0x2260] && folded("=\u{338}") == [0x3D, 0x338])
    #expect(folded("\u{301}a") == [0x61] && folded("\u{301}") == [])
    #expect(folded("й ё Ế ᾅ") == [0x438, 0x20, 0x435, 0x20, 0x65, 0x20, 0x3B1])
  }
}
