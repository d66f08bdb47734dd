// ScalarMapping: how the values of a custom scalar are stored, and which type they have in Swift.
//
// An enum may be mapped, too, to its texts.

import DflatSchema

/// What is said about a scalar: `long`, `Date`, or `long:Date`.
struct ScalarMapping {
  /// The type in the schemas of entities.
  let stored: String
  /// The type in the Swift of operations: a type of FlatBuffers, or one of Swift.
  let type: String
  /// The Swift type of an entity's field, with a unit if one is given; nil if the field has the
  /// stored type in Swift, too.
  let form: String?

  /// The types of FlatBuffers that a scalar can have.
  static let storedTypes = ["string"] + ScalarType.allCases.map(\.rawValue)

  init(_ text: String) {
    // Types of Swift may have colons, too, as `[String: Int]` and `Shop::Price`.
    if let colon = text.firstIndex(of: ":"), Self.storedTypes.contains(String(text[..<colon])) {
      let form = String(text[text.index(after: colon)...])
      stored = String(text[..<colon])
      self.form = form
      type = form.firstRange(of: " in ").map { String(form[..<$0.lowerBound]) } ?? form
    } else {
      // Types of Swift are stored as their texts.
      stored = Self.storedTypes.contains(text) ? text : "string"
      type = text
      form = nil
    }
  }

  /// Whether a text is a mapping; types of FlatBuffers are written in lower case, those of Swift
  /// are not.
  static func isValid(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":") else {
      return storedTypes.contains(text) || text.wholeMatch(of: /[A-Z]\w*(\.\w+)*/) != nil
    }
    let form = text[text.index(after: colon)...]
    let units = /[A-Z]\w*(\.\w+)*( in (seconds|milliseconds|microseconds|nanoseconds))?/
    return storedTypes.contains(String(text[..<colon])) && form.wholeMatch(of: units) != nil
  }
}
