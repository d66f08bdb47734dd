// ImportedNames: what a schema finds in other modules.

public import DflatSchema

/// The types and namespaces of a schema that other modules have, for the generator.
public struct ImportedNames: Sendable, Hashable {
  /// The modules of types that are not generated with the file.
  public var types: [QualifiedName: String] = [:]
  /// The modules that declare namespaces.
  public var namespaces: [[String]: String] = [:]

  /// Nothing: all types are of one module.
  public init() {}
}

extension ImportedNames {
  /// - Parameters:
  ///   - schema: The schema that refers to the names.
  ///   - map: Where the types of its files are.
  ///   - namespaces: The modules of namespaces.
  init(_ schema: Schema, _ map: ModuleMap, namespaces: [[String]: String]) {
    self.namespaces = namespaces
    for file in schema.files.dropFirst() {
      guard case .module(let module) = map.place(of: file.path) else { continue }
      for name in file.types { types[name] = module }
    }
  }
}
