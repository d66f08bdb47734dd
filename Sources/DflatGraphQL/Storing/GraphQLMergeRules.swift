// GraphQLMergeRules: what is special about a part of a response when it is merged.
//
// Three things are: a path that the response's errors name leaves what is stored, a list that pages
// is added to the stored one, and what an earlier payload of the response has brought is stored
// already. All are places in the response, so they make a tree over its keys and indices. Most
// responses have none of them, and then there is no tree.

/// What is special about a part of a response when it is merged into what is stored. Generated code
/// asks it.
@frozen
public struct GraphQLMergeRules {
  @usableFromInline let node: MergeRuleNode?
  /// Whether a whole object is made, and nothing is stored. An object of an interface or union that
  /// comes without its key counts then.
  public let isWhole: Bool

  /// Creates rules for making a whole object.
  @inlinable
  public init() {
    node = nil
    isWhole = true
  }

  @usableFromInline
  init(_ node: MergeRuleNode?) {
    self.node = node
    isWhole = false
  }

  /// The rules for the same object if it is new, so that nothing is stored at its paths.
  @inlinable
  public var ofNewObject: GraphQLMergeRules { isWhole ? self : GraphQLMergeRules(nil) }

  /// Whether a field is stored: its path, and every path above it, has not failed.
  ///
  /// - Parameter key: The field's key in the response.
  @inlinable
  public func stores(_ key: String) -> Bool { node.map { !$0.isLeft(key) } ?? true }

  /// Whether a field that may be null is stored. Null because of an error, in the field or in what
  /// must not be null below it, is not.
  ///
  /// - Parameters:
  ///   - key: The field's key in the response.
  ///   - value: Its value.
  @inlinable
  public func stores<Value>(_ key: String, _ value: Value?) -> Bool {
    guard let node else { return true }
    return !node.isLeft(key) && (value != nil || !node.hasFailure(key))
  }

  /// The rules for a field's value.
  @inlinable
  public subscript(key: String) -> GraphQLMergeRules {
    node.map { GraphQLMergeRules($0.fields[key]) } ?? self
  }

  /// Whether only a part of the value is stored, which a later payload has brought.
  @inlinable
  public var isPart: Bool { node?.isClosed ?? false }

  /// The rules for an element of a list.
  subscript(index: Int) -> GraphQLMergeRules {
    node.map { GraphQLMergeRules($0.element(index)) } ?? self
  }

  /// The rules for an object with a page of a list and what is said about both ends of the page.
  ///
  /// - Parameter isFirst: Whether the stored list is empty, so that both ends of the page are those
  ///   of the list.
  @inlinable
  public func page(isFirst: Bool) -> GraphQLMergeRules {
    guard isFirst, let node else { return self }
    return GraphQLMergeRules(node.withBothEnds())
  }

  /// The rules for an object with a page of a list that may stay as it is stored. What is said
  /// about the ends of the page stays with it: otherwise the next page would not follow the list.
  ///
  /// - Parameters:
  ///   - isFirst: See ``page(isFirst:)``.
  ///   - keys: The keys of what is said about the ends.
  ///   - isKept: Whether the list stays as it is stored.
  @inlinable
  public func page(isFirst: Bool, keeping keys: [String], if isKept: Bool) -> GraphQLMergeRules {
    guard isKept, !isWhole else { return page(isFirst: isFirst) }
    return GraphQLMergeRules((node ?? MergeRuleNode()).keeping(keys))
  }

  /// Whether a list stays as it is stored because an error is about it.
  ///
  /// - Parameters:
  ///   - key: The list's key in the response.
  ///   - list: The list.
  @inlinable
  public func keeps<Selected>(_ key: String, _ list: [Selected]?) -> Bool {
    node?.hasError(key, isNull: list == nil) ?? false
  }

  /// Whether a list of objects with keys stays as it is stored because an error is about it, or
  /// because some of the new objects come without their keys.
  ///
  /// - Parameters:
  ///   - key: The list's key in the response.
  ///   - list: The list.
  ///   - stored: The stored list.
  ///   - isKnown: Whether an object has its key, or is null.
  @inlinable
  public func keeps<Selected, Stored>(
    _ key: String, _ list: [Selected]?, _ stored: [Stored], _ isKnown: (Selected) -> Bool
  ) -> Bool {
    if keeps(key, list) { return true }
    guard let list, !isWhole, !stored.isEmpty, node?.isReplaced(key) ?? true else { return false }
    return !list.allSatisfy(isKnown)
  }
}

/// A place in the response.
@usableFromInline
final class MergeRuleNode {
  /// Whether what is stored stays.
  private enum Leaving {
    case no
    /// An error names the path.
    case failed
    /// It is about the end of the list that a page is not added to.
    case otherEnd
  }

  private var leaving = Leaving.no
  /// Whether what the tree does not name below this path leaves what is stored. A list of which
  /// this is true is only on the way to what a payload has brought.
  @usableFromInline private(set) var isClosed = false
  /// Whether an error names this path or one below it.
  private(set) var hasFailures = false
  private(set) var update = GraphQLListUpdate.replace
  @usableFromInline private(set) var fields: [String: MergeRuleNode] = [:]
  /// The elements of a list that errors name, or that a payload is about.
  private(set) var elements: [Int: MergeRuleNode] = [:]
  /// The other elements.
  private var everyElement: MergeRuleNode?
  /// The elements that a payload has added to a list.
  private(set) var added: Range<Int>?
  /// The rules for those of them that have none of their own.
  private var everyAdded: MergeRuleNode?
  /// The elements of a list that were decoded; nil for all.
  private(set) var cut: ListCut?

  /// Rules that say nothing.
  @usableFromInline
  init() {}

  /// The rules for a response; nil if nothing in it is special.
  /// - Parameters:
  ///   - deliveries: What is stored of it; nil for all.
  ///   - cuts: The lists that were not decoded as a whole.
  static func root(
    errors: [GraphQLError], pages: [GraphQLListPlace], deliveries: [GraphQLDelivery]? = nil,
    cuts: [ListCut] = []
  ) -> MergeRuleNode? {
    let paths = errors.map(\.path).filter { !$0.isEmpty }
    if paths.isEmpty, deliveries == nil, pages.allSatisfy({ $0.update == .replace }) { return nil }
    let root = MergeRuleNode()
    root.isClosed = deliveries != nil
    // Pages come first: what is said about every element is copied for those that are named.
    for page in pages { page.add(to: root) }
    for delivery in deliveries ?? [] { root.open(delivery) }
    for cut in cuts { cut.path.reduce(root) { $0.child($1) }.cut = cut }
    for path in paths { root.fail(path[...]) }
    return root
  }

  /// Whether a field leaves what is stored, whatever it is.
  @usableFromInline
  func isLeft(_ key: String) -> Bool { fields[key].map { $0.leaving != .no } ?? isClosed }

  /// Whether the path of a field, or one below it, has failed.
  @usableFromInline
  func hasFailure(_ key: String) -> Bool { fields[key]?.hasFailures ?? false }

  /// Whether an error is about a field itself, or has made null of it. One below a field that no
  /// payload is about says nothing.
  @usableFromInline
  func hasError(_ key: String, isNull: Bool) -> Bool {
    guard let field = fields[key], !field.isClosed else { return false }
    return field.hasFailed || isNull && field.hasFailures
  }

  /// Whether a list is stored as a whole and replaces the stored one.
  @usableFromInline
  func isReplaced(_ key: String) -> Bool {
    fields[key].map { $0.update == .replace && !$0.isClosed } ?? !isClosed
  }

  var hasFailed: Bool { leaving == .failed }

  func element(_ index: Int) -> MergeRuleNode? {
    if let named = elements[index] { return named }
    if added?.contains(index) == true { return everyAdded }
    return everyElement ?? (isClosed ? Self.left : nil)
  }

  /// What stays as it is stored.
  private static var left: MergeRuleNode {
    let node = MergeRuleNode()
    node.leaving = .failed
    node.hasFailures = true
    node.isClosed = true
    return node
  }

  // MARK: Building

  private func fail(_ path: ArraySlice<GraphQLPathElement>) {
    hasFailures = true
    guard let step = path.first else {
      leaving = .failed
      return
    }
    child(step).fail(path.dropFirst())
  }

  /// Says that what a payload has brought is stored: fields of an object, or elements of a list.
  private func open(_ delivery: GraphQLDelivery) {
    var node = self
    for step in delivery.path {
      if !node.isClosed { return }  // Everything here is stored.
      if case .index(let index) = step, node.added?.contains(index) == true { return }
      node = node.child(step)
      if node.leaving == .failed { node.leaving = .no }
    }
    if !node.isClosed { return }
    if let keys = delivery.keys {
      for key in keys { node.child(key).openWhole() }
    } else if let elements = delivery.elements {
      node.add(elements)
    } else {
      node.openWhole()
    }
  }

  /// Says that everything here is stored, also null: what has failed is said later.
  private func openWhole() {
    if leaving == .failed { leaving = .no }
    isClosed = false
    hasFailures = false
    added = nil
    for field in fields.values { field.openWhole() }
    for element in elements.values { element.openWhole() }
    everyElement?.openWhole()
  }

  /// Says that a payload has added elements to the list here.
  private func add(_ indices: Range<Int>) {
    let all = added.map { min($0.lowerBound, indices.lowerBound)..<indices.upperBound } ?? indices
    added = all
    everyAdded = everyElement?.copy()
    everyAdded?.openWhole()
  }

  /// The rules at a step below, which are made if there are none.
  func child(_ step: GraphQLListStep) -> MergeRuleNode {
    switch step {
    case .key(let key): return child(key)
    case .elements:
      let element = everyElement ?? (isClosed ? Self.left : MergeRuleNode())
      everyElement = element
      return element
    }
  }

  private func child(_ key: String) -> MergeRuleNode {
    let child = fields[key] ?? (isClosed ? Self.left : MergeRuleNode())
    fields[key] = child
    return child
  }

  private func child(_ step: GraphQLPathElement) -> MergeRuleNode {
    switch step {
    case .key(let key): child(key)
    case .index(let index): child(index)
    }
  }

  /// The rules of an element that belong to it alone.
  private func child(_ index: Int) -> MergeRuleNode {
    let child = elements[index] ?? element(index)?.copy() ?? MergeRuleNode()
    elements[index] = child
    return child
  }

  /// Says how the list here is merged.
  func setUpdate(_ update: GraphQLListUpdate) { self.update = update }

  /// Says that a field here is about the end of a list that a page is not added to.
  func leaveOtherEnd(_ key: String) { child(key).leaving = .otherEnd }

  private func copy(withBothEnds: Bool = false) -> MergeRuleNode {
    let copy = MergeRuleNode()
    copy.leaving = withBothEnds && leaving == .otherEnd ? .no : leaving
    copy.isClosed = isClosed
    copy.hasFailures = hasFailures
    copy.update = update
    copy.fields = fields.mapValues { $0.copy(withBothEnds: withBothEnds) }
    copy.elements = elements.mapValues { $0.copy(withBothEnds: withBothEnds) }
    copy.everyElement = everyElement.map { $0.copy(withBothEnds: withBothEnds) }
    copy.added = added
    copy.cut = cut
    copy.everyAdded = everyAdded.map { $0.copy(withBothEnds: withBothEnds) }
    return copy
  }

  /// The same rules, with some fields that stay as they are stored.
  @usableFromInline
  func keeping(_ keys: [String]) -> MergeRuleNode {
    let copy = copy()
    for key in keys { copy.child(key).leaving = .failed }
    return copy
  }

  /// The same rules, with the fields about the other end of lists directly below.
  @usableFromInline
  func withBothEnds() -> MergeRuleNode {
    let copy = copy()
    // Lists further below may have stored elements.
    copy.fields = copy.fields.mapValues { field in
      field.fields.values.contains { $0.leaving == .otherEnd }
        ? field.copy(withBothEnds: true) : field
    }
    return copy
  }
}
