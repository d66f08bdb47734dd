// The Swift type that the `swift` attribute gives a field, instead of the one of its stored type.
//
// The stored value does not change: other languages read the same numbers, texts and bytes.

/// The type that a field's `swift` attribute names.
public enum SwiftType: Hashable, Sendable {
  /// Foundation's `Date`, since 1970.
  case date(TimeUnit)
  /// The standard library's `Duration`.
  case duration(TimeUnit)
  /// Foundation's `UUID`, as text.
  case uuid
  /// Foundation's `URL`, as text.
  case url
  /// Foundation's `Decimal`, as text.
  case decimal
  /// Foundation's `Data`, for a vector of bytes.
  case data
  /// `Int`, for any integer.
  case int
  /// A type of the program that conforms to `StorableValue`, with the module it is imported from.
  case program(module: String?, name: String)

  /// The unit of a stored number.
  public enum TimeUnit: String, CaseIterable, Sendable {
    case seconds, milliseconds, microseconds, nanoseconds
  }
}

extension SwiftType {
  /// The unit of stored times; nil for other types.
  var unit: TimeUnit? {
    switch self {
    case .date(let unit), .duration(let unit): unit
    default: nil
    }
  }

  /// Parses the type and the unit in an attribute: `Date`, `Duration in milliseconds`,
  /// `Shop::Price`.
  struct Name {
    var type: String
    var module: String?
    var unit: TimeUnit?

    /// nil if the text is not a type name.
    init?(_ text: String) {
      var text = text[...]
      if let range = text.firstRange(of: " in ") {
        guard let unit = TimeUnit(rawValue: String(text[range.upperBound...])) else { return nil }
        self.unit = unit
        text = text[..<range.lowerBound]
      }
      if let range = text.firstRange(of: "::") {
        module = String(text[..<range.lowerBound])
        text = text[range.upperBound...]
      }
      type = String(text)
      let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard (parts + (module.map { [$0] } ?? [])).allSatisfy(isSwiftIdentifier) else { return nil }
    }
  }
}

/// Whether a name can be a Swift identifier, perhaps in back-ticks.
func isSwiftIdentifier(_ name: String) -> Bool {
  guard let first = name.first, first == "_" || first.isLetter, name != "_" else { return false }
  return name.allSatisfy { $0 == "_" || $0.isLetter || ($0.isASCII && $0.isNumber) }
}
