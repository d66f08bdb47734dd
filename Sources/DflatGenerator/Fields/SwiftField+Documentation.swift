// The documentation of a generated property: the schema's comment, or otherwise facts that its type
// does not show.

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
    if definition.isFullText { facts.append("searched for words") }
    if let stored { facts.append(stored) }
    if case .array(_, let count) = definition.type {
      facts.append("\(count) elements; missing ones are written as zero, more are refused")
    } else if !definition.isPrimary, !isInStruct {
      facts.append(isOptional && !definition.isRequired ? "nil if absent" : absence)
    }
    let name = "`\(definition.name)`"
    return [facts.isEmpty ? "The field \(name)." : "\(name): \(facts.joined(separator: ", "))."]
  }

  /// The stored type, if Swift uses another type for it.
  private var stored: String? {
    switch definition.swiftType {
    case .date(let unit): "stored as `\(definition.type)`, \(unit.rawValue) since 1970"
    case .duration(let unit): "stored as `\(definition.type)`, \(unit.rawValue)"
    case .uuid, .url, .decimal, .data, .int, .program: "stored as `\(definition.type)`"
    case nil: nil
    }
  }

  private var absence: String {
    if definition.isRequired { return "required" }
    if case .vector = definition.type { return "empty if absent" }
    if form != nil { return "`\(storedDefault)` if absent" }
    let value = defaultExpression
    if case .enumeration = definition.type, let dot = value.lastIndex(of: ".") {
      return "`\(value[dot...])` if absent"
    }
    return "`\(value)` if absent"
  }
}
