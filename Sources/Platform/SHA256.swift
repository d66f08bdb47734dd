// SHA-256 (FIPS 180-4): versions of GraphQL entities, and long keys on a server, have digests.
//
// The toolchain's Foundation has none on Linux. Texts are short, so nothing here is tuned.

/// Digests of 32 bytes.
public enum SHA256 {
  /// The digest of a text's UTF-8 bytes: 64 hexadecimal digits in lower case.
  public static func hexadecimal(_ text: String) -> String { hexadecimal(Array(text.utf8)) }

  /// The digest of bytes: 64 hexadecimal digits in lower case.
  public static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let hexadecimal = digest(bytes).flatMap {
      [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
    }
    return String(decoding: hexadecimal, as: UTF8.self)
  }

  /// The digest of bytes: 32 bytes.
  public static func digest(_ bytes: [UInt8]) -> [UInt8] {
    words(bytes).flatMap { word in
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  private static func words(_ bytes: [UInt8]) -> [UInt32] {
    var state = initial
    let padded = padded(bytes)
    var schedule = [UInt32](repeating: 0, count: 64)
    for start in stride(from: 0, to: padded.count, by: 64) {
      for index in 0..<16 {
        let at = start + 4 * index
        schedule[index] =
          UInt32(padded[at]) << 24 | UInt32(padded[at + 1]) << 16 | UInt32(padded[at + 2]) << 8
          | UInt32(padded[at + 3])
      }
      for index in 16..<64 {
        schedule[index] =
          smallSigma1(schedule[index - 2]) &+ schedule[index - 7]
          &+ smallSigma0(schedule[index - 15]) &+ schedule[index - 16]
      }
      compress(&state, schedule)
    }
    return state
  }

  /// A one bit, zeros, and the length in bits as a big-endian number fill the last block.
  private static func padded(_ bytes: [UInt8]) -> [UInt8] {
    var padded = bytes + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(bytes.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    return padded
  }

  private static func compress(_ state: inout [UInt32], _ schedule: [UInt32]) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for round in 0..<64 {
      let choice = (e & f) ^ (~e & g)
      let first = h &+ sigma1(e) &+ choice &+ constants[round] &+ schedule[round]
      let majority = (a & b) ^ (a & c) ^ (b & c)
      let second = sigma0(a) &+ majority
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  private static func sigma0(_ x: UInt32) -> UInt32 {
    rotated(x, 2) ^ rotated(x, 13) ^ rotated(x, 22)
  }
  private static func sigma1(_ x: UInt32) -> UInt32 {
    rotated(x, 6) ^ rotated(x, 11) ^ rotated(x, 25)
  }
  private static func smallSigma0(_ x: UInt32) -> UInt32 {
    rotated(x, 7) ^ rotated(x, 18) ^ x >> 3
  }
  private static func smallSigma1(_ x: UInt32) -> UInt32 {
    rotated(x, 17) ^ rotated(x, 19) ^ x >> 10
  }

  /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  private static let initial: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]
}
