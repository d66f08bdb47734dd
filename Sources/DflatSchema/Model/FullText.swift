// Full-text fields: the strings of a root that are searched for words.
//
// All of them share one index, whose storage name lists the fields and their tokenizers, so every
// version of a schema recognises it.

/// How a text is divided into the words that a search can find.
public enum Tokenizer: String, CaseIterable, Hashable, Sendable {
  /// Words are runs of letters and digits, without regard to case and accents.
  case unicode61
  /// As `unicode61`, and English words are reduced to their stem.
  case porter
  /// Any successive characters, without regard to case, accents and width: finds parts of words,
  /// and texts of languages without blanks.
  case trigram
  /// As `unicode61`, and without regard to width; each character of Chinese, Japanese and Korean is
  /// a word.
  case cjk
  /// As `cjk`, and English words are reduced to their stem.
  case porterCJK = "portercjk"

  /// The tokenizer that a schema's text names; nil if there is none.
  init?(schemaText: String) {
    switch schemaText.split(separator: " " as Character) {
    case ["unicode61"]: self = .unicode61
    case ["porter"], ["porter", "unicode61"]: self = .porter
    case ["trigram"]: self = .trigram
    case ["cjk"], ["unicode61", "cjk"]: self = .cjk
    case ["porter", "cjk"], ["porter", "unicode61", "cjk"]: self = .porterCJK
    default: return nil
    }
  }

  /// How it is named in schemas.
  public var schemaText: String { self == .porterCJK ? "porter cjk" : rawValue }
  /// Its case in `SearchTokenizer` of the library.
  public var swiftName: String { self == .porterCJK ? "porterCJK" : rawValue }
}

/// The full-text index of a root.
public struct FullTextFields: Hashable, Sendable {
  /// A field of the index.
  public struct Field: Hashable, Sendable {
    /// The storage name of the field: `f10`, `f14__f4`, `f20__u1__f4`.
    public var path: String
    /// Where the field is declared.
    public var position: SourcePosition
    /// How its texts are divided into words.
    public var tokenizer: Tokenizer
    /// Whether its own attribute names the tokenizer.
    var namesTokenizer: Bool
  }

  /// The fields in declaration order, depth first.
  public var fields: [Field]

  /// The tokenizer of all fields; nil if they have different ones.
  public var tokenizer: Tokenizer? {
    fields.allSatisfy { $0.tokenizer == fields[0].tokenizer } ? fields[0].tokenizer : nil
  }

  /// The storage name: `fulltext__porter__x__f6__x__f14__f4` if one tokenizer of FTS5 divides all
  /// texts, and otherwise `fulltext__tokens__x__f6__porter__x__f14__f4__trigram`.
  public var storageName: String {
    let common = tokenizer.flatMap { $0 == .unicode61 || $0 == .porter ? $0 : nil }
    return "fulltext__\(common?.rawValue ?? "tokens")"
      + fields.map { field in
        "__x__\(field.path)" + (common == nil ? "__\(field.tokenizer.rawValue)" : "")
      }.joined()
  }
}

extension Schema {
  /// The largest number of full-text fields of a root.
  public static let fullTextLimit = 64

  /// The full-text fields of `root`; nil if it has none.
  ///
  /// A field with `fulltext` counts once for every way to it through references and unions. One
  /// that names no tokenizer has that of the others.
  public func fullText(of root: QualifiedName) -> FullTextFields? {
    let found = fieldPaths(of: root) { $0.isFullText && $0.type == .string }
    guard !found.isEmpty else { return nil }
    let usual = found.lazy.compactMap(\.field.tokenizer).first ?? .unicode61
    return FullTextFields(
      fields: found.map {
        FullTextFields.Field(
          path: $0.path, position: $0.field.position, tokenizer: $0.field.tokenizer ?? usual,
          namesTokenizer: $0.field.tokenizer != nil)
      })
  }
}
