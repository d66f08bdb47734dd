// ImportedNames: the names that a schema uses from other modules.

public import DflatSchema

/// The types and namespaces of a schema that other modules contain, for the generator.
public struct ImportedNames: Sendable, Hashable {
  /// The module of each type that is not generated with the file.
  public var types: [QualifiedName: String] = [:]
  /// The modules that declare namespaces.
  public var namespaces: [[String]: String] = [:]

  /// No names: all types are in one module.
  public init() {}
}

extension ImportedNames {
  /// - Parameters:
  ///   - schema: The schema that refers to the names.
  ///   - map: The modules of the schema's files.
  ///   - namespaces: The modules of namespaces.
  init(_ schema: Schema, _ map: ModuleMap, namespaces: [[String]: String]) {
    self.namespaces = namespaces
    for file in schema.files.dropFirst() {
      guard case .module(let module) = map.place(of: file.path) else { continue }
      for name in file.types { types[name] = module }
    }
  }
}
