// Planning of conditions on elements: what the index of a vector's elements answers.

extension Planner {
  /// The rows for which a condition is true of at least one element.
  func narrow(anyOf element: ElementVariable, _ condition: Node) -> Narrowing {
    guard let index = elements.first(where: { $0.isOf(element) }),
      let values = condition.values(of: element)
    else { return .nothing }
    let known = values.filter { !$0.isNaN }
    if known.isEmpty { return .never }
    if known.count > capabilities.maximumPredicateSize { return .nothing }
    return Narrowing(
      predicate: .contains(index, known), isExact: capabilities.elements == .matches)
  }
}

extension Query {
  /// Whether the index of some elements can narrow the condition.
  func asksForElements(_ index: ElementIndex) -> Bool {
    condition?.asksForElements(index) ?? false
  }
}

extension Node {
  fileprivate func asksForElements(_ index: ElementIndex) -> Bool {
    contains { node in
      guard case .quantified(.any, let element, let condition) = node else { return false }
      return index.isOf(element) && condition.values(of: element) != nil
    }
  }

  /// The values of an element for which the condition is true; nil if it is about something else.
  fileprivate func values(of element: ElementVariable) -> [Value]? {
    func isElement(_ node: Node) -> Bool {
      if case .field(let field) = node { field.element == element } else { false }
    }
    switch self {
    case .comparison(.equal, let operand, .constant(let value, _), _),
      .comparison(.equal, .constant(let value, _), let operand, _):
      return isElement(operand) ? [value] : nil
    case .membership(let operand, let values, _, negated: false):
      return isElement(operand) ? values : nil
    default: return nil
    }
  }
}

extension IndexPredicate {
  /// Whether it is about elements, or a conjunction with such a part.
  var isAboutElements: Bool {
    switch self {
    case .contains: true
    case .and(let parts): parts.contains(where: \.isAboutElements)
    default: false
    }
  }
}
