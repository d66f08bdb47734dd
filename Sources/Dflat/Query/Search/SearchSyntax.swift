// SearchSyntax: what a search asks for, before it is known how texts are divided into words.
//
// There are two ways to write it: what users type (SearchSyntax+Words.swift), and the query
// language of FTS5 (SearchSyntax+FTS5.swift).

package import StandardConformances

/// A search as a tree.
indirect enum SearchSyntax: Sendable {
  /// One phrase, or several that are near each other.
  case phrases([Phrase], distance: Int)
  case and([SearchSyntax])
  case or([SearchSyntax])
  /// The first, and not the second.
  case not(SearchSyntax, SearchSyntax)
  /// A search in some fields, or in all but these.
  case fields([FieldName], isExcluding: Bool, SearchSyntax)
  /// Phrases that all have to be there; those without a word do not count.
  case words([SearchSyntax])

  /// Words in succession.
  struct Phrase: Sendable {
    /// Texts whose words follow each other.
    var texts: [String]
    /// Whether the last word may be the beginning of one.
    var isPrefix = false
    /// Whether the field begins with it.
    var isInitial = false
  }

  /// The name of a field, and where in the search it is.
  struct FieldName: Sendable {
    var name: String
    var position: Int
  }

  /// A single phrase.
  static func phrase(_ phrase: Phrase) -> SearchSyntax { .phrases([phrase], distance: 0) }
}

/// A search in the language of FTS5 is malformed, or names a field that is not searched.
public struct SearchSyntaxError: AdvisedError, Sendable, Equatable {
  /// What is wrong, and what to do.
  public let message: String
  /// The search.
  public let search: String
  /// Where in the search it is wrong: the number of Unicode scalars before it.
  public let position: Int

  package var problem: String {
    "search \(String(reflecting: String(search.prefix(200)))), at \(position): \(message)"
  }

  package var advice: String? { "correct it there, or use search(_:), which takes any text" }
}
