// The column of an index of elements: an array with the elements of each object.
//
// Of a text it has the first bytes only, since an entry of the server's index has no room for more:
// so what is found is looked at. The elements are in the order of the vector.

import Dflat
import FlatBuffersRuntime

struct ElementsColumn: Sendable {
  let index: ElementIndex
  /// The name of the column: that of the field, `f18 elements`.
  let name: String
  /// The server's type of the column.
  let columnType: String

  init(_ index: ElementIndex) {
    self.index = index
    name = "f\(index.offset) elements"
    columnType = index.type.columnType + "[]"
  }

  /// A condition that at least the objects satisfy which have one of some elements.
  /// - Parameter marks: The parameters with the elements.
  func test(_ marks: [String]) -> String {
    let elements = index.type == .string ? marks.map { $0.indexedText() } : marks
    return "\(name.quotedName) && ARRAY[\(elements.joined(separator: ", "))]"
  }

  /// Whether a column has the elements of an object.
  /// - Parameter stored: The column as the server sends it.
  func isRight(_ stored: UnsafeRawBufferPointer, for row: TableReader) -> Bool {
    array(of: row).elementsEqual(stored)
  }

  /// The elements of an object, as the server reads an array.
  func array(of row: TableReader) -> [UInt8] {
    var elements: [UInt8] = []
    var count = 0
    index.forEachElement(of: row) { value in
      switch value {
      case .null: return
      case .integer(let value) where index.type == .bool:
        elements.append(element: value == 0 ? 0 : 1 as UInt8)
      case .integer(let value): elements.append(element: value.bigEndian)
      case .real(let value): elements.append(element: value.bitPattern.bigEndian)
      case .text(let bytes):
        elements.append(
          element: UnsafeRawBufferPointer(rebasing: bytes.prefix(String.indexedBytes)))
      }
      count += 1
    }
    return .arrayHead(count, of: index.type.postgresType) + elements
  }
}

extension Parameters {
  /// The elements of a row.
  func set(_ place: Int, _ elements: ElementsColumn, of row: TableReader) {
    let type = PostgresType.array(of: elements.index.type.postgresType)
    elements.array(of: row).withUnsafeBytes { set(place, copying: $0, type) }
  }
}
