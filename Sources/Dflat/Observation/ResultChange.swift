// ResultChange: a new state of a result, and how it differs from the one before.

import FlatBuffersRuntime

/// A new state of a watched result with its difference from the state before, by object and by position.
///
/// Apply the difference in this order, and the old array becomes the new one: take out what is at `removals` and at the old
/// places of `moves`; put in, in ascending order, what is in `insertions` and at the new places of `moves`; replace what is at the
/// new places of `updates`. Table views want just that. `apply(to:)` does it, and `collectionDifference` says it in the standard
/// library's terms.
public struct ResultChange<Element: Atom>: Sendable {
  /// An object that has left or entered.
  public struct Entry: Sendable {
    /// Its place: in the old result of what has left, in the new one of what has entered.
    public let offset: Int
    /// The object.
    public let element: Element
  }

  /// An object that has changed its place among the others.
  public struct Move: Sendable {
    /// Its place in the old result.
    public let from: Int
    /// Its place in the new result.
    public let to: Int
    /// The object as it is now.
    public let element: Element
  }

  /// An object whose content has changed. It may have moved, too.
  public struct Update: Sendable {
    /// Its place in the old result.
    public let from: Int
    /// Its place in the new result.
    public let to: Int
    /// The object as it was.
    public let previous: Element
    /// The object as it is now.
    public let element: Element

    /// The names of the fields whose values differ, as in the schema, in its order.
    public var changedFields: [String] {
      previous._row.read { old in
        element._row.read { new in Element._schema.layout.differences(old, new) }
      }
    }

    /// Whether the value of a field differs, which may be one behind references: `Post.author.name`.
    /// - Parameter field: The field.
    /// - Returns: False if it is unknown in both.
    public func changes<Value>(_ field: Field<Value, Element>) -> Bool {
      let reader = ColumnReader(field.descriptor)
      return previous._row.read { old in
        element._row.read { new in !reader.read(old).isSame(as: reader.read(new)) }
      }
    }
  }

  /// The result as it was.
  public let previous: FetchedResult<Element>
  /// The result as it is now.
  public let result: FetchedResult<Element>
  /// The objects that have left, by ascending old places.
  public let removals: [Entry]
  /// The objects that have entered, by ascending new places.
  public let insertions: [Entry]
  /// The objects that have changed their place among the others, by ascending new places. As few as possible.
  public let moves: [Move]
  /// The objects whose content has changed, by ascending new places.
  public let updates: [Update]

  /// The difference between two results.
  ///
  /// - Parameters:
  ///   - previous: The old one.
  ///   - result: The new one.
  public init(from previous: FetchedResult<Element>, to result: FetchedResult<Element>) {
    let difference = RowDifference(
      from: previous._rows, to: result._rows, as: Element._schema.layout)
    self.previous = previous
    self.result = result
    removals = difference.removals.map { Entry(offset: $0, element: previous[$0]) }
    insertions = difference.insertions.map { Entry(offset: $0, element: result[$0]) }
    moves = difference.moves.map { Move(from: $0.from, to: $0.to, element: result[$0.to]) }
    updates = difference.updates.map {
      Update(from: $0.from, to: $0.to, previous: previous[$0.from], element: result[$0.to])
    }
  }

  /// Whether nothing differs.
  public var isEmpty: Bool {
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Makes the new array of the old one.
  /// - Parameter elements: The objects of `previous`, or something that a program keeps in step with them.
  public func apply(to elements: inout [Element]) {
    for offset in (removals.map(\.offset) + moves.map(\.from)).sorted(by: >) {
      elements.remove(at: offset)
    }
    let entering = insertions.map { ($0.offset, $0.element) } + moves.map { ($0.to, $0.element) }
    for (offset, element) in entering.sorted(by: { $0.0 < $1.0 }) {
      elements.insert(element, at: offset)
    }
    for update in updates { elements[update.to] = update.element }
  }

  /// The same in terms of the standard library: an update is a removal and an insertion that are associated, as is a move.
  public var collectionDifference: CollectionDifference<Element> {
    typealias Change = CollectionDifference<Element>.Change
    var changes: [Change] = []
    for entry in removals {
      changes.append(.remove(offset: entry.offset, element: entry.element, associatedWith: nil))
    }
    for entry in insertions {
      changes.append(.insert(offset: entry.offset, element: entry.element, associatedWith: nil))
    }
    let moved = Set(moves.map(\.to))
    let pairs =
      moves.map { ($0.from, $0.to) }
      + updates.filter { !moved.contains($0.to) }.map { ($0.from, $0.to) }
    for (from, to) in pairs {
      changes.append(.remove(offset: from, element: previous[from], associatedWith: to))
      changes.append(.insert(offset: to, element: result[to], associatedWith: from))
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("the parts of a difference contradict each other")
    }
    return difference
  }
}

extension TableLayout {
  /// The names of the properties whose values differ.
  func differences(_ left: TableReader, _ right: TableReader) -> [String] {
    properties.filter { !left.value(of: $0).equals(right.value(of: $0)) }.map(\.name)
  }
}
