// A subscription has one field at its root, and not one of introspection (5.2.3.1).

import Diagnostics

extension Validator {
  func checkSubscriptions() {
    guard let root = schema.subscriptionType else { return }
    for operation in operations.operations where operation.kind == .subscription {
      let fields = rootFields(of: operation.selectionSet, root)
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

  /// The fields at the root, in the order of the text, also those in fragments; without those that
  /// are never included.
  private func rootFields(of selectionSet: SelectionSetSyntax, _ root: NamedType) -> [FieldSyntax] {
    var result: [FieldSyntax] = []
    var seen: Set<String> = []
    var waiting: [SelectionSyntax] = selectionSet.selections.reversed()
    while let selection = waiting.popLast() {
      guard !selection.directives.contains(where: \.excludes) else { continue }
      let inner: (condition: NameSyntax?, selections: [SelectionSyntax])
      switch selection {
      case .field(let field):
        result.append(field)
        continue
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
  /// Whether it leaves out its selection whatever the variables are.
  fileprivate var excludes: Bool {
    guard let argument = argument("if"), case .boolean(let value) = argument.value.kind else {
      return false
    }
    return name.text == "skip" && value || name.text == "include" && !value
  }
}
