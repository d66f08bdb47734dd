// Searches as programs write them.

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

extension Field where Value == String {
  /// A condition: the words of `text` are in this field; see ``FullTextSearchable/search(_:)``.
  ///
  /// A field without `(fulltext)` can be searched as well; then every object is looked at.
  public func search(_ text: String) -> TextSearch<Element> {
    TextSearch(words: text, in: fields, name: name)
  }

  /// A condition on this field in the query language of FTS5; see
  /// ``FullTextSearchable/search(fts5:)``.
  /// - Throws: `SearchSyntaxError` if the text is malformed, or names another field.
  public func search(fts5 text: String) throws(SearchSyntaxError) -> TextSearch<Element> {
    try TextSearch(fts5: text, in: fields, name: name)
  }

  fileprivate var fields: [FieldDescriptor] {
    descriptor.alternatives.isEmpty ? [descriptor] : descriptor.alternatives
  }

  private var name: String { Element._schema.name(of: descriptor) + "." }
}

/// A search: a condition, and what else can be asked about it.
///
///     let search = Post.search("hello wor*")
///     let best = dflat.fetch(for: Post.self).where(search, limit: 20, orderBy: [search.rank])
///     for post in best { print(search.snippet(of: post, in: Post.text)?.text ?? "") }
public struct TextSearch<Element: Atom>: QueryExpression {
  /// A condition is true or false.
  public typealias Value = Bool

  let condition: SearchCondition

  /// The condition without its types, for Dflat.
  public var _node: Node { .search(condition) }

  fileprivate init(words text: String, in fields: [FieldDescriptor], name: String = "") {
    // Only a name of a field can be wrong, and there is none in it.
    do {
      try self.init(
        SearchSyntax(words: text), fields, text, "\(name)search(\(String(reflecting: text)))")
    } catch {
      preconditionFailure("\(error)")
    }
  }

  fileprivate init(
    fts5 text: String, in fields: [FieldDescriptor], name: String = ""
  ) throws(SearchSyntaxError) {
    try self.init(
      try SearchSyntax(fts5: text), fields, text,
      "\(name)search(fts5: \(String(reflecting: text)))")
  }

  private init(
    _ syntax: SearchSyntax, _ fields: [FieldDescriptor], _ search: String, _ text: String
  ) throws(SearchSyntaxError) {
    condition = try SearchCondition(
      syntax, in: fields, of: Element._schema, text: text, search: search)
  }

  // MARK: Relevance

  /// The order of the objects that match: the best first.
  public var rank: OrderBy<Element> { rank([:]) }

  /// The order of the objects that match, with weights for fields: the best first.
  ///
  ///     orderBy: [search.rank([Post.title: 10, Post.author.name: 3])]
  ///
  /// - Parameter weights: How much a word counts in each field; 1 for fields that are not named.
  public func rank(_ weights: KeyValuePairs<Field<String, Element>, Double>) -> OrderBy<Element> {
    relevance(weights).descending
  }

  /// How well an object matches: greater is better.
  ///
  /// As the first key of an order, with a condition that contains the search, a complete full-text
  /// index orders by the BM25 of all objects, where rare words count more. Everywhere else, also as
  /// a value, it depends on the object alone: on how often it has each word.
  ///
  /// - Parameter weights: How much a word counts in each field; 1 for fields that are not named.
  public func relevance(
    _ weights: KeyValuePairs<Field<String, Element>, Double> = [:]
  ) -> Computed<Double, Element> {
    var factors = [Double](repeating: 1, count: condition.columns.count)
    for (field, weight) in weights {
      for descriptor in field.fields {
        guard let place = condition.columns.firstIndex(of: descriptor) else {
          misuse(
            "\(Element._schema.name(of: descriptor)) has a weight in \(condition.text), which does "
              + "not search it: weigh the fields that are searched")
        }
        factors[place] = weight
      }
    }
    return Computed(.relevance(condition, weights: factors))
  }
}
