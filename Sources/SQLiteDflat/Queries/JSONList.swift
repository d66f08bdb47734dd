// JSONList: many values as one parameter of a statement.
//
// The text of a statement with a parameter for each value would be long, and another one for each
// number of values.

import Dflat

/// Integers or texts as a list in JSON, which `json_each` gives back as they are.
struct JSONList {
  private static let fewest = 500
  private(set) var text = "["

  /// nil if there are few values, or some that JSON does not give back: real numbers, and texts
  /// with a NUL, where SQLite ends them.
  init?(_ values: [Value]) {
    if values.count <= Self.fewest { return nil }
    for (place, value) in values.enumerated() {
      if place > 0 { text += "," }
      switch value {
      case .integer(let number): text += "\(number)"
      case .string(let string):
        if string.utf8.contains(0) { return nil }
        append(string)
      case .bool, .unsigned, .real: return nil
      }
    }
    text += "]"
  }

  private mutating func append(_ string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        text += "\\"
        text.unicodeScalars.append(scalar)
      case "\u{1}"..."\u{1F}":
        text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
