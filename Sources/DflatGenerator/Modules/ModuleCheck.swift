// ModuleCheck: checks the schemas of one Swift module against each other.
//
// Each schema is compiled by itself. Only together do they show that two of them declare the same
// type or share a table, which namespaces they use, and that a type is missing.

import DflatSchema

/// The schemas of one module, taken together.
struct ModuleCheck {
  private let outlines: [SchemaOutline]
  private let map: ModuleMap
  private let internalModules: Set<String>
  /// The Swift names that lead to the types and namespaces of the schemas, and of those of the
  /// other modules that are not internal there.
  let names: Set<[String]>
  /// The namespaces that other modules use, each with the first such module.
  let importedNamespaces: [[String]: String]

  /// - Parameters:
  ///   - files: The schemas of the module. One that cannot be read is reported when it is compiled.
  ///   - map: The other modules.
  init(files: [String], map: ModuleMap) {
    outlines = files.compactMap(SchemaOutline.init(file:))
    self.map = map
    let internalModules = map.internalModules
    self.internalModules = internalModules
    var namespaces: [[String]: String] = [:]
    var names = Set(outlines.flatMap(\.names))
    for (module, path) in map.schemas() where !internalModules.contains(module) {
      guard let outline = SchemaOutline(file: path) else { continue }
      names.formUnion(outline.names)
      for namespace in outline.namespaces where namespaces[namespace] == nil {
        namespaces[namespace] = module
      }
    }
    self.names = names
    importedNamespaces = namespaces
  }

  /// Types that two of the files declare: they would be the same Swift type.
  func repetitions() -> [Diagnostic] {
    var seen: [[String]: SchemaOutline.Declaration] = [:]
    var found: [Diagnostic] = []
    for outline in outlines {
      for declaration in outline.declarations {
        guard let other = seen.updateValue(declaration, forKey: declaration.path),
          // Duplicates within one file are reported when that file is compiled.
          other.position.file != declaration.position.file
        else { continue }
        let swift = declaration.path.joined(separator: ".")
        let message =
          declaration.name == other.name
          ? "'\(declaration.name)' is declared in \(other.position.file), too, and both are of one Swift module"
          : "'\(declaration.name)' and '\(other.name)' of \(other.position.file) both become '\(swift)' in Swift, in one module"
        found.append(
          SchemaOutline.diagnostic(
            .error, message, at: declaration,
            notes: [
              SchemaOutline.diagnostic(.note, "declared here", at: other),
              Diagnostic(
                severity: .note,
                message:
                  "include that file instead, or give one of them another name or namespace",
                position: nil),
            ]))
      }
    }
    return found
  }

  /// Entities that would be stored in one table: each would read the other's objects as its own.
  /// Two versions of one entity may be; their names differ in case alone.
  ///
  /// - Parameter others: Schemas of the module that other calls compile. A clash among only these
  ///   is reported there.
  func sharedTables(beside others: ModuleCheck? = nil) -> [Diagnostic] {
    var seen = Dictionary(grouping: (others?.outlines ?? []).compactMap(\.root), by: \.tableName)
    return outlines.compactMap(\.root).compactMap { root in
      defer { seen[root.tableName, default: []].append(root) }
      // Of one path are a schema that is named twice, and types that `repetitions` refuses.
      let others = seen[root.tableName]?.filter { $0.path != root.path } ?? []
      guard let other = others.first(where: { !root.isVersion(of: $0) }) else { return nil }
      return SchemaOutline.diagnostic(
        .error,
        "'\(root.name)' and '\(other.name)' of \(other.position.file) would both be stored in the "
          + "table '\(root.tableName)'", at: root,
        notes: [
          SchemaOutline.diagnostic(.note, "'\(other.name)' is here", at: other),
          Diagnostic(
            severity: .note,
            message:
              "rename one that has no objects yet, or give it a version, (v: \"2\"): the name of a "
              + "table has no upper case, and no underscores of the type's name", position: nil),
        ])
    }
  }

  /// The namespaces that have to be declared, outermost first, except those of other modules and
  /// types that serve as namespaces.
  ///
  /// - Parameter declared: The types that Swift files of the module declare.
  func namespaces(besides declared: Set<[String]>) -> [[String]] {
    var types: Set<[String]> = []
    for outline in outlines {
      types.formUnion(outline.declarations.map(\.path))
      // The schema's Swift declares these names for the types.
      let namespaces = Set(outline.namespaces.map(namespacePath))
      types.formUnion(
        outline.declarations.map { namespacePath($0.name.namespace + [$0.name.name]) }
          .filter(namespaces.contains))
    }
    let used = outlines.reduce(into: Set<[String]>()) { $0.formUnion($1.namespaces) }
    types.formUnion(declared)
    return used.filter { !types.contains(namespacePath($0)) && importedNamespaces[$0] == nil }
      .sorted { ($0.count, $0.joined(separator: ".")) < ($1.count, $1.joined(separator: ".")) }
  }

  /// Types that a compiled file uses and that no module generates, or one for itself only.
  func strays(in result: CompilationResult) -> [Diagnostic] {
    guard let schema = result.schema, let file = schema.files.first else { return [] }
    var problems: [QualifiedName: (problem: String, hint: String)] = [:]
    for other in schema.files.dropFirst() {
      guard let found = problem(with: other) else { continue }
      for name in other.types { problems[name] = found }
    }
    if problems.isEmpty { return [] }
    return file.types.flatMap { schema.types[$0]?.parts ?? [] }.compactMap { part in
      guard let name = part.type.declaredName, let (problem, hint) = problems[name] else {
        return nil
      }
      return result.diagnostic(
        .error, "'\(name)' is declared in \(problem)", at: part.position,
        notes: [Diagnostic(severity: .note, message: hint, position: nil)])
    }
  }

  /// Why the types of an included file cannot be used, and what helps; nil if they can.
  private func problem(with file: SchemaFile) -> (problem: String, hint: String)? {
    switch map.place(of: file.path) {
    case .unknown:
      (
        "\(file.path), which is compiled neither in this module nor in one that it imports",
        "let the target depend on the one that has the file, name its module in dflat.json, "
          + #"{"modules": {"directory": "Module"}}, or move the file into this target"#
      )
    case .module(let module) where internalModules.contains(module):
      (
        "\(file.path), and what is generated for it is internal to the module \(module)",
        #"say "access": "package" in the dflat.json of that module if it is of the same package, "#
          + #"otherwise "public""#
      )
    case .own, .module: nil
    }
  }
}

extension SchemaOutline {
  /// The Swift names that lead to its types and namespaces.
  fileprivate var names: [[String]] {
    declarations.map(\.path) + namespaces.map(namespacePath)
  }
}

extension SchemaOutline.Declaration {
  /// The Swift names that lead to the type.
  fileprivate var path: [String] { namespacePath(name.namespace) + [swiftName] }

  /// Whether it may be the same entity in another version: a program that has two of them gives
  /// them names, or namespaces, that differ in case alone.
  fileprivate func isVersion(of other: Self) -> Bool {
    name != other.name && name.description.lowercased() == other.name.description.lowercased()
  }
}
