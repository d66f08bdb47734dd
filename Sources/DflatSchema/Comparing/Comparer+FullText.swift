// Full-text fields: which ones a root has, and their tokenizers.
//
// The index is only ever a help: searches are right without it. So every change is compatible.

extension Comparer {
  mutating func compareFullText() {
    let names = (old: old.fieldNames, new: new.fieldNames)
    for pair in entities.sorted(by: { $0.new.description < $1.new.description }) {
      let (before, after) = (old.fullText(of: pair.old), new.fullText(of: pair.new))
      if before == nil, after == nil { continue }
      let (oldRoot, newRoot) = (old.position(of: pair.old), new.position(of: pair.new))
      let table = after.map { "\(new.tableName(of: pair.new))__\($0.storageName)" }
      let built =
        table.map {
          "searches are right at once, and the first one starts to fill the full-text table "
            + "'\($0)'"
        }
        ?? "searches are right without a full-text table, and slower; the old one stays in the file"
      var reported: Set<SourcePosition> = []
      for field in after?.fields ?? []
      where before?.fields.contains(where: { $0.path == field.path }) != true
        && reported.insert(field.position).inserted
      {
        let subject = names.new[field.position] ?? ""
        report(
          .fullTextAdded, .compatible, subject, "'\(last(subject))' is searched for words now",
          built, oldPositions[field.position] ?? oldRoot, field.position)
      }
      for field in before?.fields ?? []
      where after?.fields.contains(where: { $0.path == field.path }) != true
        && reported.insert(field.position).inserted
      {
        let subject = names.old[field.position] ?? ""
        report(
          .fullTextRemoved, .compatible, subject,
          "'\(last(subject))' is no longer searched for words", built, field.position,
          newPositions[field.position] ?? newRoot)
      }
      guard let before, let after else { continue }
      if let one = before.tokenizer, let other = after.tokenizer {
        if one == other { continue }
        report(
          .tokenizerChanged, .compatible, pair.new.description,
          "the tokenizer of '\(pair.new)' has changed from '\(one.schemaText)' to "
            + "'\(other.schemaText)'",
          "other objects may match a search than before; \(built)", oldRoot, newRoot)
        continue
      }
      reported = []
      for field in after.fields {
        guard let was = before.fields.first(where: { $0.path == field.path })?.tokenizer,
          was != field.tokenizer, reported.insert(field.position).inserted
        else { continue }
        let subject = names.new[field.position] ?? ""
        report(
          .tokenizerChanged, .compatible, subject,
          "the tokenizer of '\(last(subject))' has changed from '\(was.schemaText)' to "
            + "'\(field.tokenizer.schemaText)'",
          "other objects may match a search than before; \(built)",
          oldPositions[field.position] ?? oldRoot, field.position)
      }
    }
  }

  private func last(_ name: String) -> Substring { name.split(separator: ".").last ?? "" }
}
