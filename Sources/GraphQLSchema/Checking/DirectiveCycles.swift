// Directives whose definitions use themselves: at their arguments, or at the types of these.
//
// Types may refer to themselves, so not every cycle is a mistake: one that contains a directive is.
// A directive is in a cycle if its strongly connected component has other members, or if it stands
// at its own argument.

import Diagnostics

struct DirectiveCycles {
  private let directives: [DirectiveDefinitionSyntax]
  private let types: [TypeDeclaration]
  private let directiveNumbers: [String: Int]
  private let typeNumbers: [String: Int]

  /// Reports each directive of the texts that uses itself.
  static func check(_ builder: SchemaBuilder, sink: DiagnosticSink) {
    // A directive without arguments uses nothing.
    guard builder.directives.contains(where: { !$0.isBuiltIn && !$0.definition.arguments.isEmpty })
    else { return }
    let cycles = DirectiveCycles(builder)
    let components = strongComponents(
      among: cycles.directives.count + cycles.types.count, next: cycles.uses)
    for component in components {
      for node in component where node < cycles.directives.count {
        guard component.count > 1 || cycles.uses(of: node).contains(node) else { continue }
        let name = cycles.directives[node].name
        sink.error(
          "the directive '@\(name.text)' uses itself in its definition", at: name.range,
          rule: "TypeValidation",
          notes: [.hint("leave it out at its arguments, and at the parts of their types")])
      }
    }
  }

  private init(_ builder: SchemaBuilder) {
    directives = builder.directives.map(\.definition)
    types = builder.types
    directiveNumbers = builder.directiveNumbers
    typeNumbers = builder.typeNumbers
  }

  /// What a definition uses: directives have their own numbers, and types those behind these.
  private func uses(of node: Int) -> [Int] {
    if node < directives.count { return uses(of: directives[node].arguments) }
    return types[node - directives.count].parts.flatMap { part in
      numbers(of: part.directives) + uses(of: part.inputFields)
        + part.values.flatMap { numbers(of: $0.directives) }
    }
  }

  private func uses(of values: [InputValueDefinitionSyntax]) -> [Int] {
    values.flatMap { value in
      let type = typeNumbers[value.type.name.text].map { $0 + directives.count }
      return numbers(of: value.directives) + (type.map { [$0] } ?? [])
    }
  }

  private func numbers(of directives: [DirectiveSyntax]) -> [Int] {
    directives.compactMap { directiveNumbers[$0.name.text] }
  }
}
