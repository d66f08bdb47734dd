// Relations that would be stored and never followed: those inside structs, enums and collections.
//
// Loading, saving and deleting follow the relations that are properties of a value itself. Those
// further inside would be ids that nothing resolves, retains or removes.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Reports a relation that silos would not follow.
/// - Parameters:
///   - type: The type of the property or associated value.
///   - isPart: Whether it belongs to a part of a value, rather than to the value itself.
/// - Returns: Whether there is none.
func checkRelationIsFollowed(
  _ name: String, _ type: TypeSyntax, isPart: Bool, in context: some MacroExpansionContext
) -> Bool {
  guard let target = type.relationTarget, isPart || !type.code.hasPrefix("@") else { return true }
  let advice =
    isPart
    ? "make it a property of the '@Persistable' struct, or store the id, \(target).ID"
    : "use RelatedItems<\(target)> or RelatedList<\(target)>, or store the ids, \(target).ID"
  context.reportError(
    type, "unfollowedRelation",
    "'\(name)' would be stored and never followed, since relations are properties of the value "
      + "itself; \(advice)")
  return false
}

extension TypeSyntax {
  /// The type to which the first relation in this type leads; nil if there is none.
  fileprivate var relationTarget: String? {
    if let optional = self.as(OptionalTypeSyntax.self) {
      return optional.wrappedType.relationTarget
    }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.relationTarget }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.relationTarget ?? dictionary.value.relationTarget
    }
    if let tuple = self.as(TupleTypeSyntax.self) {
      return tuple.elements.lazy.compactMap(\.type.relationTarget).first
    }
    let (name, arguments) = nameAndArguments
    if ["RelatedItem", "RelatedItems", "RelatedList"].contains(name), arguments.count == 1 {
      return arguments[0].trimmedDescription
    }
    return arguments.lazy.compactMap(\.relationTarget).first
  }
}
