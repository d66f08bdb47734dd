// Searches of all full-text fields of a type.

/// An entity type with strings that are searched for words: fields with `(fulltext)` in the schema.
public protocol FullTextSearchable: Atom {}

extension FullTextSearchable {
  /// A condition: the words of `text` are in the full-text fields of an object, in any of them.
  ///
  ///     let found = dflat.fetch(for: Post.self).where(Post.search("hello wor*") && !Post.isHidden)
  ///
  /// Every text is a search, also what a user has just begun to type:
  ///
  /// - `word` finds objects with this word; all words must be there, in any order.
  /// - `word*` finds words that begin so.
  /// - `"two words"` finds words in succession. The last quotation mark may be missing.
  /// - `-word` and `-"two words"` leave out objects.
  ///
  /// What a word is, and when two are the same, depends on the tokenizer in the schema; see
  /// <doc:Searching>. A search without any word that is wanted matches nothing. The condition is
  /// true or false, and never unknown: an absent text has no words.
  public static func search(_ text: String) -> TextSearch<Self> {
    TextSearch(words: text, in: searchedFields)
  }

  /// A condition in the query language of SQLite's full-text index FTS5: `AND`, `OR`, `NOT`,
  /// `NEAR(a b, 5)`, `^first`, `title : word`, and parentheses.
  ///
  ///     let found = try Post.search(fts5: "title : hello OR NEAR(swift storage, 3)")
  ///
  /// Fields have the schema's names; those with a point stand in quotation marks: `"author.name"`.
  /// It means the same on every engine.
  ///
  /// - Throws: `SearchSyntaxError` if the text is malformed, or names another field.
  public static func search(fts5 text: String) throws(SearchSyntaxError) -> TextSearch<Self> {
    try TextSearch(fts5: text, in: searchedFields)
  }

  private static var searchedFields: [FieldDescriptor] {
    _schema.fullText?.columns.map(\.field) ?? []
  }
}
