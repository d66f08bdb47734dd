// The folding of searches, by Foundation's normal forms: what `trigram` and `cjk` have to
// agree with.

import Foundation

/// The scalars of a text in lower case, without accents, in usual width.
public func foldedScalars(_ text: String) -> [UInt32] {
  var usual = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0x3000, 0xFF01...0xFF9F:
      usual.append(
        contentsOf: String(scalar).precomposedStringWithCompatibilityMapping.unicodeScalars)
    default: usual.append(scalar)
    }
  }
  var plain = String.UnicodeScalarView()
  for scalar in String(usual).decomposedStringWithCanonicalMapping.unicodeScalars {
    if 0x300...0x36F ~= scalar.value, !(0x334...0x338 ~= scalar.value) { continue }
    let lowercase = scalar.properties.lowercaseMapping.unicodeScalars
    plain.append(lowercase.count == 1 ? lowercase[lowercase.startIndex] : scalar)
  }
  return String(plain).precomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
}
