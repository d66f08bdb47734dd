// What lexers ask about ASCII bytes.

package func isDigit(_ byte: UInt8) -> Bool {
  byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
}

package func isLetter(_ byte: UInt8) -> Bool {
  (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
}

package func isIdentifierStart(_ byte: UInt8) -> Bool {
  isLetter(byte) || byte == UInt8(ascii: "_")
}

package func isHexadecimalDigit(_ byte: UInt8) -> Bool { hexadecimalValue(byte) != nil }

package func hexadecimalValue(_ byte: UInt8) -> UInt32? {
  if isDigit(byte) { return UInt32(byte - UInt8(ascii: "0")) }
  let lower = byte | 0x20
  guard lower >= UInt8(ascii: "a"), lower <= UInt8(ascii: "f") else { return nil }
  return UInt32(lower - UInt8(ascii: "a")) + 10
}

/// `text` as a string literal on one line, in GraphQL and in JSON.
package func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    default:
      if scalar.value < 0x20 || scalar.value == 0x7F {
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }
  return result + "\""
}
