// Order: sort keys as programs write them, and the comparison of rows by them.

import FlatBuffersRuntime

/// The order of two objects by one sort key.
public enum SortingOrder: Sendable {
  case ascending, same, descending
}

/// A sort key: `Post.createdAt.descending`, or a position in a collection by `firstIndex(of:)` and
/// `lastIndex(of:)`.
public struct OrderBy<Element>: Sendable {
  // `Element` has no `Atom` constraint: the runtime would look up the conformance at the first use
  // in a process, which takes longer than most queries.

  @usableFromInline package let term: OrderTerm

  /// The storage name of the field: `f10`, `f14__f4`, and `__pk0` for the first field of the
  /// primary key. Empty for a computed value.
  public var name: String {
    if case .key(let index)? = term.field?.column { "__pk\(index)" } else { term.field?.path ?? "" }
  }

  /// Whether objects are ordered by the value itself, and not by its position in a collection or by
  /// relevance.
  package var isByStoredValue: Bool { term.isByStoredValue && !term.isRelevance }

  /// `.ascending` or `.descending`.
  public var sortingOrder: SortingOrder { term.isDescending ? .descending : .ascending }
}

extension OrderBy where Element: Atom {
  /// Compares two objects by this key alone: `.ascending` if `lhs` has the smaller value,
  /// regardless of `sortingOrder`.
  ///
  /// An unknown value is smaller than every known one.
  public func areInSortingOrder(_ lhs: Element, _ rhs: Element) -> SortingOrder {
    let key = SortKey(term)
    let order = lhs._row.read { left in rhs._row.read { right in key.compare(left, right) } }
    return order < 0 ? .ascending : order > 0 ? .descending : .same
  }
}

extension QueryExpression where Value: DflatFriendlyValue {
  /// Ascending order; unknown values come first.
  public var ascending: OrderBy<Element> {
    OrderBy(term: OrderTerm(node: _node, Value._valueType, isDescending: false))
  }

  /// Descending order; unknown values come last.
  public var descending: OrderBy<Element> {
    OrderBy(term: OrderTerm(node: _node, Value._valueType, isDescending: true))
  }
}

extension Collection where Element: QueryValue {
  /// Orders objects by the first position of the field's value in this collection. Values that are
  /// not in the collection come before all that are, and unknown values come before those.
  public func firstIndex<E: Atom>(of field: some FieldExpression<Element, E>) -> OrderBy<E> {
    OrderBy(
      term: OrderTerm(
        node: field._node, Element._valueType, isDescending: false,
        positions: PositionTable(field._field.stored(self), keepsFirst: true)))
  }

  /// Orders objects by the last position of the field's value in this collection. Values that are
  /// not in the collection come before all that are, and unknown values come before those.
  public func lastIndex<E: Atom>(of field: some FieldExpression<Element, E>) -> OrderBy<E> {
    OrderBy(
      term: OrderTerm(
        node: field._node, Element._valueType, isDescending: false,
        positions: PositionTable(field._field.stored(self), keepsFirst: false)))
  }
}

/// A sort key as data.
@usableFromInline package struct OrderTerm: Sendable {
  /// The expression whose value is compared.
  package let node: Node
  /// How its values are compared.
  package let type: ValueType
  /// Whether greater values come first.
  package let isDescending: Bool
  /// The collection to order by; nil to order by value.
  let positions: PositionTable?

  /// - Parameter type: How values of the expression's Swift type are compared; the type of a stored
  ///   value if the two differ is found in the expression.
  package init(node: Node, _ type: ValueType, isDescending: Bool) {
    self.init(node: node, type, isDescending: isDescending, positions: nil)
  }

  init(
    node: Node, _ type: ValueType, isDescending: Bool, positions: PositionTable?
  ) {
    self.node = node
    self.type = node.operandType(type)
    self.isDescending = isDescending
    self.positions = positions
  }

  /// The same sort key over another expression with the same values.
  func with(_ node: Node) -> OrderTerm {
    OrderTerm(node: node, type, isDescending: isDescending, positions: positions)
  }

  /// Whether values are compared as they are stored, and not by their positions in a collection.
  package var isByStoredValue: Bool { positions == nil }

  /// Whether it is how well objects match a search.
  var isRelevance: Bool {
    if case .relevance = node { true } else { false }
  }

  /// The field whose value is compared; nil for a computed value.
  package var field: FieldDescriptor? {
    if case .field(let field) = node { field } else { nil }
  }
}

/// The positions of a collection's values. Strings are identified by their bytes.
struct PositionTable: Sendable {
  private var numbers: [UInt64: Int] = [:]
  private var texts: [[UInt8]: Int] = [:]

  /// - Parameter values: The stored values; nil for those that no field can store.
  init(_ values: [Value?], keepsFirst: Bool) {
    for case (let position, let value?) in values.enumerated() {
      let keep: (Int, Int) -> Int = keepsFirst ? { old, _ in old } : { _, new in new }
      switch value {
      case .string(let text): texts.merge([(Array(text.utf8), position)], uniquingKeysWith: keep)
      case .real(let number):
        if !number.isNaN {
          numbers.merge([((number + 0).bitPattern, position)], uniquingKeysWith: keep)
        }
      default: numbers.merge([(value.bits, position)], uniquingKeysWith: keep)
      }
    }
  }

  /// The number of different values.
  var count: Int { numbers.count + texts.count }

  /// All values with their positions, in an order that is the same in every process.
  var text: String {
    (numbers.map { "\($0.key) \($0.value)" } + texts.map { "\($0.key) \($0.value)" }).sorted()
      .joined(separator: ", ")
  }

  /// The position of a value; −1 if it is not in the collection.
  func position(_ bits: UInt64) -> Int { numbers[bits] ?? -1 }
  func position(_ text: UnsafeRawBufferPointer) -> Int { texts[Array(text)] ?? -1 }
}

/// A sort key, compiled.
struct SortKey: Sendable {
  let isDescending: Bool
  let type: ValueType
  let program: Program
  let positions: PositionTable?
  /// The fields of the root table that the sort key depends on; see `FieldSet.mask`.
  let mask: UInt64

  init(_ term: OrderTerm) {
    isDescending = term.isDescending
    mask = term.node.rootMask
    program = Program(term.node)
    type = term.type
    positions = term.positions
  }

  /// Negative if the left row has the smaller value, that is, comes first in ascending order.
  func compare(_ left: TableReader, _ right: TableReader) -> Int {
    program.withScratch { compare(left, right, $0) }
  }

  @inline(__always)
  private func compare(
    _ left: TableReader, _ right: TableReader, _ scratch: ScratchMemory
  ) -> Int {
    let index = program.result
    if positions != nil { return order(position(left, scratch), position(right, scratch)) }
    switch type {
    case .string:
      let l = program.utf8(index, left, scratch)
      let r = program.utf8(index, right, scratch)
      guard let l, let r else { return order(l == nil ? 0 : 1, r == nil ? 0 : 1) }
      return compareBytes(l, r)
    case .float, .double:
      return order(program.real(index, left, scratch), program.real(index, right, scratch))
    case .uint64:
      return order(
        program.integer(index, left, scratch).map { UInt64(bitPattern: $0) },
        program.integer(index, right, scratch).map { UInt64(bitPattern: $0) })
    default:
      return order(program.integer(index, left, scratch), program.integer(index, right, scratch))
    }
  }

  /// The position of a row's value in the collection: −1 if it is not there, nil if the value is
  /// unknown.
  func position(_ row: TableReader, _ scratch: ScratchMemory) -> Int? {
    guard let positions else { return nil }
    let index = program.result
    return switch type {
    case .string: program.utf8(index, row, scratch).map { positions.position($0) }
    case .float, .double:
      program.real(index, row, scratch).map { positions.position(($0 + 0).bitPattern) }
    default:
      program.integer(index, row, scratch).map { positions.position(UInt64(bitPattern: $0)) }
    }
  }

  @inline(__always)
  private func order<T: Comparable>(_ left: T?, _ right: T?) -> Int {
    guard let left, let right else { return (left == nil ? 0 : 1) - (right == nil ? 0 : 1) }
    return left < right ? -1 : left > right ? 1 : 0
  }
}
