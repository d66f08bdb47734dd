// ResultChange: a new state of a result, and how it differs from the one before.

import FlatBuffersRuntime

/// A new state of a watched result with its difference from the state before, by object and by
/// position.
///
/// Applied in this order, the difference turns the old array into the new one: remove the objects
/// at `removals` and at the old positions of `moves`; insert, in ascending order, those of
/// `insertions` and those at the new positions of `moves`; replace those at the new positions of
/// `updates`. This is the order that table views expect. `apply(to:)` does the same on an array,
/// and `collectionDifference` expresses the difference as the standard library's type.
public struct ResultChange<Element: Atom>: Sendable {
  /// An object that has left or entered the result.
  public struct Entry: Sendable {
    /// Its position: in the old result for an object that has left, in the new one for an object
    /// that has entered.
    public let offset: Int
    /// The object.
    public let element: Element
  }

  /// An object that has changed its position relative to the others.
  public struct Move: Sendable {
    /// Its position in the old result.
    public let from: Int
    /// Its position in the new result.
    public let to: Int
    /// The object as it is now.
    public let element: Element
  }

  /// An object whose content has changed. It may have moved, too.
  public struct Update: Sendable {
    /// Its position in the old result.
    public let from: Int
    /// Its position in the new result.
    public let to: Int
    /// The object as it was.
    public let previous: Element
    /// The object as it is now.
    public let element: Element

    /// The names of the fields whose values differ, as written in the schema and in its order.
    public var changedFields: [String] {
      previous._row.read { old in
        element._row.read { new in Element._schema.layout.differences(old, new) }
      }
    }

    /// Whether the value of a field differs. The field may be behind references:
    /// `Post.author.name`.
    /// - Parameter field: The field.
    /// - Returns: False if it is unknown in both.
    public func changes<Value>(_ field: some FieldExpression<Value, Element>) -> Bool {
      let reader = ColumnReader(field._field.descriptor)
      return previous._row.read { old in
        element._row.read { new in !reader.read(old).isSame(as: reader.read(new)) }
      }
    }
  }

  /// The result as it was.
  public let previous: FetchedResult<Element>
  /// The result as it is now.
  public let result: FetchedResult<Element>
  /// The objects that have left, ascending by their old positions.
  public let removals: [Entry]
  /// The objects that have entered, ascending by their new positions.
  public let insertions: [Entry]
  /// The objects that have changed their position relative to the others, ascending by their new
  /// positions. As few as possible.
  public let moves: [Move]
  /// The objects whose content has changed, ascending by their new positions.
  public let updates: [Update]

  /// The difference between two results.
  ///
  /// - Parameters:
  ///   - previous: The old result.
  ///   - result: The new result.
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

  /// Whether the two results are equal.
  public var isEmpty: Bool {
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }

  /// Turns the old array into the new one.
  /// - Parameter elements: The objects of `previous`, or an array that the program keeps parallel
  ///   to them.
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

  /// The difference as the standard library's type: an update is a removal and an insertion that
  /// are associated, as is a move.
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
    properties.filter { !$0.isEqual(left, right) }.map(\.name)
  }
}
