// A search as programs write it: a condition, and an order.

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
  public var _tree: ExpressionTree { ExpressionTree(.search(condition)) }

  init(words text: String, in fields: [FieldDescriptor], name: String = "") {
    // Only a name of a field can be wrong, and there is none in it.
    do {
      try self.init(
        SearchSyntax(words: text), fields, text, "\(name)search(\(String(reflecting: text)))")
    } catch {
      preconditionFailure("\(error)")
    }
  }

  init(
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
  /// As the only key of an order, with a condition that contains the search, a complete full-text
  /// index orders by the BM25 of all objects, where rare words count more. Everywhere else, also
  /// before further keys and as a value, it depends on the object alone: on how often it has each
  /// word.
  ///
  /// - Parameter weights: How much a word counts in each field; 1 for fields that are not named.
  public func relevance(
    _ weights: KeyValuePairs<Field<String, Element>, Double> = [:]
  ) -> Computed<Double, Element> {
    var factors = [Double](repeating: 1, count: condition.columns.count)
    for (field, weight) in weights {
      for descriptor in field.searchedFields {
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
