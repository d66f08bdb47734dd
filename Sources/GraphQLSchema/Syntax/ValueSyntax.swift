// Values and types as they stand in a document.

public import Diagnostics

/// A value in the text: a literal or a variable.
public struct ValueSyntax: Sendable {
  /// What a value is.
  public enum Kind: Sendable {
    /// `$name`.
    case variable(String)
    /// An integer, as written.
    case integer(String)
    /// A number with a fraction or an exponent, as written.
    case float(String)
    /// A string, without quotes, escapes and common indentation.
    case string(String)
    /// `true` or `false`.
    case boolean(Bool)
    /// `null`.
    case null
    /// A name that is none of the words above.
    case enumeration(String)
    /// `[…]`.
    case list([ValueSyntax])
    /// `{…}`, with the fields in order.
    case object([ArgumentSyntax])
  }

  /// What it is.
  public let kind: Kind
  /// Its place.
  public let range: SourceRange

  /// Whether it is the word `null`.
  public var isNull: Bool { if case .null = kind { true } else { false } }

  /// The value as a document would have it, on one line; object fields sorted by name, so that
  /// equal values have equal texts.
  public var canonicalText: String {
    switch kind {
    case .variable(let name): "$" + name
    case .integer(let text), .float(let text), .enumeration(let text): text
    case .string(let text): quoted(text)
    case .boolean(let value): value ? "true" : "false"
    case .null: "null"
    case .list(let values): "[" + values.map(\.canonicalText).joined(separator: ", ") + "]"
    case .object(let fields):
      "{"
        + fields.sorted { $0.name.text < $1.name.text }
        .map { $0.name.text + ": " + $0.value.canonicalText }.joined(separator: ", ") + "}"
    }
  }
}

/// A type in the text.
public final class TypeSyntax: Sendable {
  /// The type.
  public let reference: TypeReference
  /// The place of the name inside all brackets.
  public let name: NameSyntax
  /// The place of the whole.
  public let range: SourceRange

  init(reference: TypeReference, name: NameSyntax, range: SourceRange) {
    self.reference = reference
    self.name = name
    self.range = range
  }
}
