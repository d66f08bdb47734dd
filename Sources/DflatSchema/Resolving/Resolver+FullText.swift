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
    let names = Tokenizer.allCases.map(\.rawValue)
    let hint: String
    if words.count > 1, words.allSatisfy(names.contains) {
      hint = "choose one of them; only 'porter unicode61' is a combination, the same as 'porter'"
    } else {
      let meant = words.first { !names.contains($0) }.flatMap { nearest(to: $0, among: names) }
      hint =
        meant.map { "did you mean '\($0)'?" }
        ?? "the tokenizers are \"unicode61\", which is the default, \"porter\" and \"trigram\""
    }
    sink.error(
      "unknown tokenizer \"\(value.text)\"", at: value.range, notes: [.hint(hint)])
    return nil
  }

  /// The full-text fields of a root share one index, which has one tokenizer.
  func checkFullText(of root: QualifiedName, at range: SourceRange) {
    guard let fullText = schema.fullText(of: root) else { return }
    if fullText.fields.count > Schema.fullTextLimit {
      sink.error(
        "the root '\(root)' has more than \(Schema.fullTextLimit) full-text fields", at: range,
        notes: [
          .hint("a 'fulltext' field counts once for every way to it through references and unions")
        ])
    }
    let named = fullText.fields.filter { $0.tokenizer != nil }
    guard let first = named.first,
      let other = named.first(where: { $0.tokenizer != first.tokenizer })
    else { return }
    func word(_ field: FullTextFields.Field) -> String {
      "\"\(field.tokenizer?.rawValue ?? "")\""
    }
    sink.error(
      "the full-text fields of '\(root)' have different tokenizers, \(word(first)) and "
        + word(other), at: self.range(at: other.position, " ") ?? range,
      notes: [
        self.range(at: first.position, " ")?.note("\(word(first)) is named here"),
        .hint("one index has all of them: name the same tokenizer, or name it once"),
      ].compactMap { $0 })
  }
}
