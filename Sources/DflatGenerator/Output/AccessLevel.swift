// AccessLevel: the access level of generated code, and the imports that it needs.
//
// A module's interface may mention only what it imports for users of at least that level. Without
// the feature `InternalImportsByDefault` an import without a level is public, and one with a lower
// level makes those without one ambiguous in all other files of the module. So internal code says
// no level, and code of the package only where the feature is on.

/// The access level of generated declarations.
public enum AccessLevel: String, Sendable, Hashable, CaseIterable {
  /// For every module that imports the generated one.
  case `public`
  /// For the modules of one package.
  case `package`
  /// For the module itself. The compiler leaves out what the module does not use.
  case `internal`

  /// What a declaration begins with: the level and a space, or nothing.
  var modifier: String { self == .internal ? "" : rawValue + " " }
}

extension SourceText {
  /// Imports modules for declarations that mention what these declare.
  mutating func imports(_ modules: [String], _ access: AccessLevel) {
    if modules.isEmpty { return }
    guard access == .package else {
      for module in modules { line("\(access.modifier)import \(module)") }
      return
    }
    line(Self.importConditions[0])
    nest { text in for module in modules { text.line("package import \(module)") } }
    line(Self.importConditions[1])
    nest { text in for module in modules { text.line("import \(module)") } }
    line(Self.importConditions[2])
  }

  /// The lines around imports for the package. Behind the second, imports are as without a level.
  static let importConditions = [
    "#if hasFeature(InternalImportsByDefault)", "#else", "#endif",
  ]
}
