// Hints: what is allowed, and most likely not what was meant.

extension Resolver {
  /// A table of the compiled file with a primary key that is neither its root nor part of anything.
  ///
  /// Such a key belongs to an entity whose `root_type` was forgotten, or to a second entity in one file. A part of something else may
  /// have one.
  func hintAtMissingRoot() {
    guard let file = schema.files.first else { return }
    let parts = referredTypes()
    for name in file.types where name != file.root && !parts.contains(name) {
      guard case .table(let table) = schema.types[name],
        let key = table.fields.first(where: \.isPrimary), let range = ranges[name]
      else { continue }
      let hint =
        file.rootPosition == nil
        ? "add 'root_type \(name.name);' behind it"
        : "an entity has a file of its own, whose 'root_type' names it"
      sink.warning(
        "'\(name)' has a primary key, '\(key.name)', and is no entity, so it cannot be stored by itself",
        at: range, notes: [.hint(hint)])
    }
  }

  /// Every type that another one is made of.
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
