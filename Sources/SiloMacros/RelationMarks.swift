// @Retains and @DeleteRule: what they may stand at, and the code that describes the relation.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Reports marks of relations that have no effect, or that their property cannot follow.
/// - Returns: Whether there are none.
func checkRelationMarks(
  of property: StoredProperty, _ type: TypeSyntax, in context: some MacroExpansionContext
) -> Bool {
  let marks = ["Retains", "DeleteRule"].compactMap { property.attribute($0) }
  guard let first = marks.first else { return true }
  let name = property.name
  if !type.code.hasPrefix("@") {
    context.reportError(
      first, "markOfNoRelation",
      "'\(name)' is no relation; the mark belongs to a RelatedItem, RelatedItems or RelatedList")
    return false
  }
  guard let rule = property.attribute("DeleteRule") else { return true }
  guard let ruleName = property.deleteRule else {
    context.reportError(
      rule, "noRule", "write the rule as '.nothing', '.deny', '.nullify' or '.cascade'")
    return false
  }
  guard ruleName == "nullify" else { return true }
  if !property.isVariable {
    context.reportError(
      rule, "nullifiedConstant",
      "'\(name)' is a constant, which no rule can change; make it a 'var'")
    return false
  }
  if !type.hasAbsentValue {
    context.reportError(
      rule, "nullifiedItem",
      "'\(name)' always refers to a value; make it optional, or choose another rule")
    return false
  }
  return true
}

extension StoredProperty {
  /// The name of the rule; nil if there is none, or if it is no name of a rule.
  fileprivate var deleteRule: String? {
    let expression = attribute("DeleteRule")?.argument(nil)?.expression
    let name = expression?.as(MemberAccessExprSyntax.self)?.declName.baseName.text
    return name.flatMap { ["nothing", "deny", "nullify", "cascade"].contains($0) ? $0 : nil }
  }
}

extension ValueProperty {
  /// The description of a relation that retains or has a rule; nil for other properties.
  func relation(of owner: String) -> String? {
    let retains = property.attribute("Retains") != nil
    guard retains || property.deleteRule != nil else { return nil }
    var arguments = ["\"\(name)\"", "\(slot)"]
    if retains { arguments.append("retains: true") }
    if let rule = property.deleteRule { arguments.append("onDeletion: .\(rule)") }
    arguments.append("get: { $0.\(identifier) }")
    if property.isVariable { arguments.append("set: { $0.\(identifier) = $1 }") }
    return "CanonicalRelation<\(owner), \(type.trimmedDescription)>(\(arguments.commas))"
  }
}
