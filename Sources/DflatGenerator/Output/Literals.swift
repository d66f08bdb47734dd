// Swift literals for names and values of a schema.

enum Literal {
  /// A string literal. Characters that could end it, or are invisible, are escaped.
  static func string(_ value: String) -> String {
    var literal = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
          .surrogate, .nonspacingMark, .enclosingMark, .spacingMark:
          literal += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: literal.unicodeScalars.append(scalar)
        }
      }
    }
    return literal + "\""
  }

  /// A floating-point literal, or a member like `.nan` of the type that the context expects.
  static func real(_ value: Double, isFloat: Bool) -> String {
    if value.isNaN { return ".nan" }
    if value.isInfinite { return value < 0 ? "-.infinity" : ".infinity" }
    return isFloat && Double(Float(value)) == value ? "\(Float(value))" : "\(value)"
  }
}
