// Searches of one field.

extension Field where Value == String {
  /// A condition: the words of `text` are in this field; see ``FullTextSearchable/search(_:)``.
  ///
  /// A field without `(fulltext)` can be searched as well; then every object is looked at.
  public func search(_ text: String) -> TextSearch<Element> {
    TextSearch(words: text, in: searchedFields, name: name)
  }

  /// A condition on this field in the query language of FTS5; see
  /// ``FullTextSearchable/search(fts5:)``.
  /// - Throws: `SearchSyntaxError` if the text is malformed, or names another field.
  public func search(fts5 text: String) throws(SearchSyntaxError) -> TextSearch<Element> {
    try TextSearch(fts5: text, in: searchedFields, name: name)
  }

  /// The fields of the storage that it stands for.
  var searchedFields: [FieldDescriptor] {
    descriptor.alternatives.isEmpty ? [descriptor] : descriptor.alternatives
  }

  private var name: String { Element._schema.name(of: descriptor) + "." }
}
