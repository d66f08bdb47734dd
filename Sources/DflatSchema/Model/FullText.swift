// Full-text fields: the strings of a root that are searched for words.
//
// All of them share one index, and so one tokenizer. The index's storage name lists the tokenizer
// and the fields, so every version of a schema recognises it.

/// How a text is divided into the words that a search can find.
public enum Tokenizer: String, CaseIterable, Hashable, Sendable {
  /// Words are runs of letters and digits, without regard to case and accents.
  case unicode61
  /// As `unicode61`, and English words are reduced to their stem.
  case porter
  /// Any three successive characters, without regard to case: finds parts of words, and texts of
  /// languages without blanks.
  case trigram

  /// The tokenizer that a schema's text names; nil if there is none.
  init?(schemaText: String) {
    switch schemaText.split(separator: " " as Character) {
    case ["unicode61"]: self = .unicode61
    case ["porter"], ["porter", "unicode61"]: self = .porter
    case ["trigram"]: self = .trigram
    default: return nil
    }
  }
}

/// The full-text index of a root.
public struct FullTextFields: Hashable, Sendable {
  /// A field of the index.
  public struct Field: Hashable, Sendable {
    /// The storage name of the field: `f10`, `f14__f4`, `f20__u1__f4`.
    public var path: String
    /// Where the field is declared.
    public var position: SourcePosition
    /// The tokenizer that its attribute names; nil if it names none.
    var tokenizer: Tokenizer?
  }

  /// The tokenizer of all fields.
  public var tokenizer: Tokenizer
  /// The fields in declaration order, depth first.
  public var fields: [Field]

  /// The storage name: `fulltext__porter__x__f6__x__f14__f4`.
  public var storageName: String {
    "fulltext__\(tokenizer.rawValue)" + fields.map { "__x__\($0.path)" }.joined()
  }
}

extension Schema {
  /// The largest number of full-text fields of a root.
  public static let fullTextLimit = 64

  /// The full-text fields of `root`; nil if it has none.
  ///
  /// A field with `fulltext` counts once for every way to it through references and unions.
  public func fullText(of root: QualifiedName) -> FullTextFields? {
    let found = fieldPaths(of: root) { $0.isFullText && $0.type == .string }
    guard !found.isEmpty else { return nil }
    let fields = found.map {
      FullTextFields.Field(
        path: $0.path, position: $0.field.position, tokenizer: $0.field.tokenizer)
    }
    return FullTextFields(
      tokenizer: fields.lazy.compactMap(\.tokenizer).first ?? .unicode61, fields: fields)
  }
}
