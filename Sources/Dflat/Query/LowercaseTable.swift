// LowercaseTable: the lowercase mappings of most scalars, without a look at Unicode's tables.

/// The lowercase mappings of the alphabets, and where there are none.
struct LowercaseTable: Sendable {
  static let shared = LowercaseTable()

  /// The first scalar behind the table.
  private static let end: UInt32 = 0x3000
  /// The mapping of each scalar; 0 if it is more than one scalar.
  private let mappings: [UInt16]

  private init() {
    mappings = (0..<Self.end).map { code in
      guard let scalar = Unicode.Scalar(code), scalar.properties.changesWhenLowercased else {
        return UInt16(code)
      }
      let mapping = scalar.properties.lowercaseMapping.unicodeScalars
      return mapping.count == 1 ? mapping.first.flatMap { UInt16(exactly: $0.value) } ?? 0 : 0
    }
  }

  /// Whether scalars of three bytes that begin with this one have no upper and lower case: those
  /// from U+3000 to U+9FFF and from U+B000 to U+CFFF, which are of Chinese, Japanese and Korean.
  @inline(__always)
  static func hasNoCase(_ byte: UInt8) -> Bool {
    byte &- 0xE3 < 7 || byte == 0xEB || byte == 0xEC
  }

  /// The lowercase mapping of a scalar; nil if it is not known here, or more than one scalar.
  @inline(__always)
  func lowercase(_ code: UInt32) -> UInt32? {
    if code >= Self.end { return nil }
    let mapping = mappings[Int(code)]
    return mapping == 0 ? nil : UInt32(mapping)
  }
}
