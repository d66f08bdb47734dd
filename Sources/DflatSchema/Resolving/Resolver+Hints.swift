// Hints: schemas that are valid but probably not intended.

extension Resolver {
  static let oneEntityPerFile = "an entity has a file of its own, whose 'root_type' names it"

  /// Warns about a table of the compiled file with a primary key that is neither its root nor part
  /// of another type.
  ///
  /// Such a key suggests that `root_type` was forgotten, or that the file declares a second entity.
  /// A table that is part of another type may have one.
  func hintAtMissingRoot() {
    guard let file = schema.files.first else { return }
    let parts = referredTypes()
    for name in file.types
    where name != file.root && !parts.contains(name) && !overriddenRoots.contains(name) {
      guard case .table(let table) = schema.types[name],
        let key = table.fields.first(where: \.isPrimary), let range = ranges[name]
      else { continue }
      let hint =
        file.rootPosition == nil
        ? "add 'root_type \(name.name);' behind it"
        : Self.oneEntityPerFile
      sink.warning(
        "'\(name)' has a primary key, '\(key.name)', and is no entity, so it cannot be stored by itself",
        at: range, notes: [.hint(hint)])
    }
  }

  /// Every type that another type contains.
  private func referredTypes() -> Set<QualifiedName> {
    var result: Set<QualifiedName> = []
    for (owner, definition) in schema.types {
      for part in definition.parts {
        if let name = part.type.declaredName, name != owner { result.insert(name) }
      }
    }
    return result
  }
}
