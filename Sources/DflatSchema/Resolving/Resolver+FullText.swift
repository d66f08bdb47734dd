// Full-text fields: the `fulltext` attribute of strings, and its tokenizer.

extension Resolver {
  /// The tokenizer that the attribute names; nil if it names none, or an unknown one.
  func tokenizer(_ syntax: AttributeSyntax, of field: FieldDefinition) -> Tokenizer? {
    guard field.type == .string else {
      let hint =
        switch field.type {
        case .table, .union:
          "put 'fulltext' on the strings of the tables that are wanted"
        case .vector(.string): "keep the words in one string, or search the elements with 'any'"
        default: "'fulltext' applies to strings"
        }
      sink.error(
        "'\(field.name)' cannot be searched for words: it is \(field.type.described)",
        at: syntax.name.range, notes: [.hint(hint)])
      return nil
    }
    guard let value = syntax.value else { return nil }
    if let tokenizer = Tokenizer(schemaText: value.text) { return tokenizer }
    let words = value.text.split(separator: " " as Character).map(String.init)
    let names = ["unicode61", "porter", "trigram", "cjk"]
    let hint: String
    if words.count > 1, words.allSatisfy(names.contains) {
      hint =
        "choose one of them; the combinations are \"porter cjk\", and \"porter unicode61\", which is "
        + "the same as \"porter\""
    } else {
      let meant = words.first { !names.contains($0) }.flatMap { nearest(to: $0, among: names) }
      hint =
        meant.map { "did you mean '\($0)'?" }
        ?? "the tokenizers are \"unicode61\", which is the default, \"porter\", \"trigram\", "
        + "\"cjk\" and \"porter cjk\""
    }
    sink.error(
      "unknown tokenizer \"\(value.text)\"", at: value.range, notes: [.hint(hint)])
    return nil
  }

  /// The full-text fields of a root share one index. If they have different tokenizers, each names
  /// its own.
  func checkFullText(of root: QualifiedName, at range: SourceRange) {
    guard let fullText = schema.fullText(of: root) else { return }
    if fullText.fields.count > Schema.fullTextLimit {
      sink.error(
        "the root '\(root)' has more than \(Schema.fullTextLimit) full-text fields", at: range,
        notes: [
          .hint("a 'fulltext' field counts once for every way to it through references and unions")
        ])
    }
    guard fullText.tokenizer == nil,
      let unnamed = fullText.fields.first(where: { !$0.namesTokenizer }),
      let first = fullText.fields.first(where: \.namesTokenizer),
      let other = fullText.fields.first(where: {
        $0.namesTokenizer && $0.tokenizer != first.tokenizer
      })
    else { return }
    func note(_ field: FullTextFields.Field) -> Diagnostic? {
      self.range(at: field.position, " ")?.note("\"\(field.tokenizer.schemaText)\" is named here")
    }
    sink.error(
      "a full-text field of '\(root)' names no tokenizer, and the others have different ones, "
        + "\"\(first.tokenizer.schemaText)\" and \"\(other.tokenizer.schemaText)\"",
      at: self.range(at: unnamed.position, " ") ?? range,
      notes: [
        note(first), note(other),
        .hint("name its tokenizer: 'fulltext: \"unicode61\"', or another"),
      ].compactMap { $0 })
  }
}
