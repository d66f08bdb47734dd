// From lines of an entity's schema back to the GraphQL schema, for diagnostics about the former.

import DflatSchema
import GraphQLSchema

extension EntityModel {
  /// A diagnostic about the text of this schema, with a note about what it was made of.
  func withOrigin(_ diagnostic: Diagnostic, in schema: GraphQLSchema.Schema) -> Diagnostic {
    guard let line = diagnostic.position?.line, let place = place(ofLine: line),
      let type = schema.type(named: place.type)
    else { return diagnostic }
    let range =
      type.fields.first { $0.name == place.member }?.range
      ?? type.values.first { $0.name.lowercased() == place.member }?.range ?? type.range
    var result = diagnostic
    result.notes.append(range.note("it is made of this"))
    if let member = place.member, types[member] != nil {
      result.notes.append(
        .hint("do not select the field, or make '\(member)' an entity, which has its own schema"))
    }
    return result
  }

  /// The type that has a line of the text, and its field or value there.
  private func place(ofLine line: Int) -> (type: String, member: String?)? {
    // Behind the includes and the namespace.
    var first = includes.count + 2
    guard line >= first else { return nil }
    for type in ordered {
      if line < first + type.lineCount { return (type.name, type.member(inLine: line - first)) }
      first += type.lineCount
    }
    let root = Declaration.table(root)
    return (root.name, root.member(inLine: line - first - 1))
  }
}

extension EntityModel.Declaration {
  private var members: [String] {
    switch self {
    case .table(let table): table.fields.map(\.name)
    case .enumeration(_, let values): values.map(\.name)
    case .union(_, let members): members
    }
  }

  fileprivate var lineCount: Int { members.count + 2 }

  fileprivate func member(inLine line: Int) -> String? {
    members.indices.contains(line - 1) ? members[line - 1] : nil
  }
}
