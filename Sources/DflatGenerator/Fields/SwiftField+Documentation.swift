// What the documentation of a generated property says: the schema's comment, or else the few facts that its type hides.

import DflatSchema

extension SwiftField {
  var documentation: [String] {
    if !definition.documentation.isEmpty { return definition.documentation }
    var facts: [String] = []
    if definition.isPrimary { facts.append("a field of the primary key") }
    if definition.isUnique {
      facts.append("unique")
    } else if definition.isIndexed {
      facts.append("indexed")
    }
    if case .array(_, let count) = definition.type {
      facts.append("\(count) elements; missing ones are written as zero, further ones are cut")
    } else if !definition.isPrimary, !isInStruct {
      facts.append(isOptional ? "nil if absent" : absence)
    }
    let name = "`\(definition.name)`"
    return [facts.isEmpty ? "The field \(name)." : "\(name): \(facts.joined(separator: ", "))."]
  }

  private var absence: String {
    if case .vector = definition.type { return "empty if absent" }
    let value = defaultExpression
    if case .enumeration = definition.type, let dot = value.lastIndex(of: ".") {
      return "`\(value[dot...])` if absent"
    }
    return "`\(value)` if absent"
  }
}
