// Rules about fragments: their types, whether they can apply, and what spreads them (5.5).

import Diagnostics

extension Validator {
  // MARK: While walking

  /// Checks the type behind `on`.
  func checkTypeCondition(_ name: NameSyntax) {
    guard let type = schema.type(named: name.text) else {
      report(
        "KnownTypeNames", "there is no type '\(name.text)'", at: name.range,
        notes: suggestion(
          for: name.text, among: schema.types.filter(\.isComposite).map(\.name)))
      return
    }
    if !type.isComposite {
      report(
        "FragmentsOnCompositeTypes",
        "'\(type.name)' is \(type.kind.described): a fragment needs a type with fields",
        at: name.range)
    }
  }

  func checkInlineFragment(_ fragment: InlineFragmentSyntax, in parent: NamedType?) {
    guard let condition = fragment.typeCondition else { return }
    checkTypeCondition(condition)
    if let parent, let type = schema.type(named: condition.text), type.isComposite {
      checkOverlap(type, parent, at: condition.range)
    }
  }

  func checkSpread(_ spread: FragmentSpreadSyntax, in parent: NamedType?) {
    guard let fragment = operations.fragment(of: spread) else {
      report(
        "KnownFragmentNames", "there is no fragment '\(spread.name.text)'", at: spread.name.range,
        notes: suggestion(for: spread.name.text, among: operations.fragments.map(\.name.text)))
      return
    }
    if let parent, let type = schema.type(named: fragment.typeCondition.text), type.isComposite {
      checkOverlap(type, parent, at: spread.name.range)
    }
  }

  private func checkOverlap(_ type: NamedType, _ parent: NamedType, at range: SourceRange) {
    guard !schema.overlap(type, parent) else { return }
    report(
      "PossibleFragmentSpreads",
      "this fragment can never apply: no value is both '\(parent.name)' and '\(type.name)'",
      at: range)
  }

  // MARK: All together

  func checkFragments() {
    checkUnusedFragments()
    checkFragmentCycles()
  }

  /// The fragments that `uses` spreads, directly and indirectly, in no particular order.
  func fragments(reachableFrom uses: Uses) -> [Int] {
    var result: [Int] = []
    var seen: Set<Int> = []
    var waiting = uses.spreads
    while let spread = waiting.popLast() {
      guard let number = fragmentNumbers[spread.name.text], seen.insert(number).inserted else {
        continue
      }
      result.append(number)
      waiting.append(contentsOf: fragmentUses[number].spreads)
    }
    return result
  }

  private func checkUnusedFragments() {
    var all = Uses()
    for uses in operationUses { all.spreads.append(contentsOf: uses.spreads) }
    let used = Set(fragments(reachableFrom: all).map { operations.fragments[$0].name.text })
    for fragment in operations.fragments where !used.contains(fragment.name.text) {
      // Documents of one program are read together, and some of their fragments are for others.
      sink.warning(
        "the fragment '\(fragment.name.text)' is not used", at: fragment.name.range,
        rule: "NoUnusedFragments")
    }
  }

  private func checkFragmentCycles() {
    forEachCycle(
      among: operations.fragments.count,
      next: { fragment in
        fragmentUses[fragment].spreads.map { fragmentNumbers[$0.name.text] }
      }
    ) { path, arrow in
      guard let last = path.last else { return }
      reportCycle(fragmentUses[last].spreads[arrow], through: path.dropFirst())
    }
  }

  private func reportCycle(_ spread: FragmentSpreadSyntax, through fragments: ArraySlice<Int>) {
    let names = fragments.prefix(10).map { "'\(operations.fragments[$0].name.text)'" }
    let way = names.isEmpty ? "" : ", through \(names.joined(separator: ", "))"
    report(
      "NoFragmentCycles", "the fragment '\(spread.name.text)' spreads itself\(way)",
      at: spread.name.range)
  }
}
