// Indexes of elements: which objects have a certain value in a vector.

package import FlatBuffersRuntime

/// An index of the elements of a vector of the root table.
///
/// It has each element of an object once. Elements that are unknown, as NaN is, are left out.
@usableFromInline package struct ElementIndex: Sendable {
  /// The vtable offset of the vector.
  package let offset: Int
  /// The name of the index in the storage.
  package let table: String
  private let reader: ElementReader

  init(_ offset: Int, of root: FieldPath, table: String) {
    self.offset = offset
    self.table = table
    let element = ElementVariable([root], offset)
    precondition(
      element.value.domain == nil,
      "the index \(table) is about enums: an index of elements cannot be")
    reader = ElementReader(element, at: offset)
  }

  /// The type of the elements.
  package var type: ValueType { reader.type }

  /// Calls `body` with each known element of a row, also with those that occur several times. Text
  /// is valid as long as the row.
  @inline(__always)
  package func forEachElement(
    of row: TableReader, _ body: (ColumnValue) throws -> Void
  ) rethrows {
    try reader.forEach(row, body)
  }

  /// Whether two rows have the same elements in the same order.
  package func hasSameElements(_ left: TableReader, _ right: TableReader) -> Bool {
    reader.areSame(left, right)
  }

  /// Whether the vector of a variable is the indexed one.
  func isOf(_ element: ElementVariable) -> Bool {
    element.relation == nil && element.vectors.count == 1
      && element.vectors[0].path == "f\(offset)"
  }
}

extension EntitySchema {
  /// The position that stands for an index of elements where the planner names indexes by theirs:
  /// behind the full-text index.
  /// - Parameter place: Its position in `elementIndexes`.
  package func elementPosition(_ place: Int) -> Int { fullTextPosition + 1 + place }
}

/// Reads the elements of a vector of the root table, which are scalars or strings.
struct ElementReader: Sendable {
  /// The type of the elements.
  let type: ValueType
  private let offset: Int
  private let stride: Int

  /// - Parameter offset: The vtable offset of the vector.
  init(_ element: ElementVariable, at offset: Int) {
    type = element.value.type
    stride = element.kind.inlineSize
    self.offset = offset
  }

  /// Calls `body` with each known element.
  @inline(__always)
  func forEach(_ table: TableReader, _ body: (ColumnValue) throws -> Void) rethrows {
    guard let vector = vector(table) else { return }
    for index in 0..<vector.count {
      let value = element(index, vector, table)
      if case .null = value { continue }
      try body(value)
    }
  }

  /// Whether two rows have the same elements in the same order.
  func areSame(_ left: TableReader, _ right: TableReader) -> Bool {
    guard let old = vector(left), let new = vector(right) else {
      return vector(left)?.count ?? 0 == vector(right)?.count ?? 0
    }
    return old.count == new.count
      && (0..<old.count).allSatisfy {
        element($0, old, left).isSame(as: element($0, new, right))
      }
  }

  private func vector(_ table: TableReader) -> VectorReader? {
    table.vector(at: offset, stride: stride)
  }

  /// An element; null if it is unknown.
  @inline(__always)
  private func element(
    _ index: Int, _ vector: VectorReader, _ table: TableReader
  ) -> ColumnValue {
    switch type {
    case .string: return vector.utf8(index).map { .text($0) } ?? .null
    case .float, .double:
      let number = table.real(type, at: vector.position(of: index))
      return number.isNaN ? .null : .real(number)
    default: return .integer(table.integer(type, at: vector.position(of: index)))
    }
  }
}
