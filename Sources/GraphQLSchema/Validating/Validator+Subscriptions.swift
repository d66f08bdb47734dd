// A subscription has one field at its root, which is not one of introspection (5.2.4.1). A service
// chooses it without the values of variables, so nothing at the root has a condition.

import Diagnostics

extension Validator {
  func checkSubscriptions() {
    guard let root = schema.subscriptionType else { return }
    for operation in operations.operations where operation.kind == .subscription {
      let selections = rootSelections(of: operation.selectionSet, root)
      for directive in selections.flatMap(\.directives) where directive.isCondition {
        report(
          "SingleFieldSubscriptions",
          "'@\(directive.name.text)' cannot stand at the root of a subscription",
          at: directive.name.range,
          notes: [.hint("leave it out; a program starts only the subscription that it needs")])
      }
      let fields = selections.compactMap { selection in
        if case .field(let field) = selection { field } else { nil }
      }
      guard let first = fields.first else { continue }
      if let other = fields.first(where: { $0.responseKey != first.responseKey }) {
        report(
          "SingleFieldSubscriptions", "a subscription has one field at its root",
          at: other.name.range, notes: [first.name.range.note("this is the first one")])
      }
      for field in fields where field.name.text.hasPrefix("__") {
        report(
          "SingleFieldSubscriptions",
          "the field of a subscription cannot be one of introspection", at: field.name.range)
      }
    }
  }

  /// The fields at the root, also those in fragments, and these fragments themselves, in the order
  /// of the text.
  private func rootSelections(
    of selectionSet: SelectionSetSyntax, _ root: NamedType
  ) -> [SelectionSyntax] {
    var result: [SelectionSyntax] = []
    var seen: Set<String> = []
    var waiting: [SelectionSyntax] = selectionSet.selections.reversed()
    while let selection = waiting.popLast() {
      result.append(selection)
      let inner: (condition: NameSyntax?, selections: [SelectionSyntax])
      switch selection {
      case .field: continue
      case .inlineFragment(let fragment):
        inner = (fragment.typeCondition, fragment.selectionSet.selections)
      case .fragmentSpread(let spread):
        guard seen.insert(spread.name.text).inserted,
          let fragment = operations.fragment(of: spread)
        else { continue }
        inner = (fragment.typeCondition, fragment.selectionSet.selections)
      }
      if let condition = inner.condition {
        guard let type = schema.type(named: condition.text), schema.isPossible(root, in: type)
        else { continue }
      }
      waiting.append(contentsOf: inner.selections.reversed())
    }
    return result
  }
}

extension DirectiveSyntax {
  /// Whether it includes its selection by a condition.
  fileprivate var isCondition: Bool { name.text == "skip" || name.text == "include" }
}
