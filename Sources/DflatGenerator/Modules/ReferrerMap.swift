// ReferrerMap: which entities of a module refer to which, with a rule for deletions.
//
// The code of an entity names the types whose rules its deletions follow. These types are in other
// schemas, which need not be included, so all schemas of the module are looked at. A rule on a
// reference to an entity of another module cannot be kept, since that module's code is generated
// without this one.

import DflatSchema
import Foundation

struct ReferrerMap {
  /// The Swift names that lead to the referring entities, by the entity that they refer to.
  private(set) var referrers: [QualifiedName: [[String]]] = [:]
  private let own: ModuleMap

  /// - Parameters:
  ///   - files: All schemas of the module. One with errors is reported when it is compiled.
  ///   - compiler: Compiles them.
  init(files: [String], compiler: SchemaCompiler) {
    own = ModuleMap(own: files)
    var seen: Set<String> = []
    for file in files.sorted() {
      guard let text = FileManager.default.contents(atPath: file),
        text.range(of: Data("ondelete".utf8)) != nil,
        let schema = compiler.compile(file: file).schema, let root = schema.files.first?.root,
        seen.insert("\(root)").inserted, case .table(let table)? = schema.types[root]
      else { continue }
      let name = namespacePath(root.namespace) + [schema.swiftName(of: root)]
      var targets: [QualifiedName] = []
      for reference in table.references {
        guard reference.rule != .nothing, !targets.contains(reference.target) else { continue }
        targets.append(reference.target)
        referrers[reference.target, default: []].append(name)
      }
    }
  }

  /// The rules of the compiled file that no generated code would follow.
  func strays(in result: CompilationResult) -> [Diagnostic] {
    guard let schema = result.schema, let root = schema.files.first?.root,
      case .table(let table)? = schema.types[root]
    else { return [] }
    return table.references.compactMap { reference in
      guard reference.rule != .nothing, let position = reference.rulePosition,
        let file = schema.files.first(where: { $0.types.contains(reference.target) }),
        own.place(of: file.path) != .own
      else { return nil }
      return result.diagnostic(
        .error,
        "the rule \"\(reference.rule.rawValue)\" cannot be kept: '\(reference.target)' is compiled without this schema",
        at: position,
        notes: [
          Diagnostic(
            severity: .note,
            message: "compile it in the same module: its code must name '\(root)', "
              + "so give \(file.path) to the same command; without a rule the reference is fine",
            position: nil)
        ])
    }
  }
}
