// Serialises what our readers read, in the form of the C++ program of CxxSource.swift.
//
// A scalar is written as its bytes, with a single form of NaN. A string, table or optional scalar
// is preceded by a byte that tells whether it is present. Vectors and strings are preceded by their
// count. Output that does not fit into the room is cut off; the output is as long as the room.

import FlatBuffersRuntime

@testable import Dflat

struct ReadValues {
  private(set) var bytes: [UInt8] = []
  let room: Int
  /// Whether empty elements of vectors of unions are dropped, as in the program's view.
  private let dropsEmpty: Bool

  init(_ root: TableReader, _ layout: TableLayout, room: Int, dropsEmpty: Bool = false) {
    self.room = room
    self.dropsEmpty = dropsEmpty
    put(layout, root)
  }

  private var isFull: Bool { bytes.count >= room }

  private mutating func put<T: FixedWidthInteger>(_ value: T) {
    if room - bytes.count < T.bitWidth / 8 { return fill() }
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func put(_ source: UnsafeRawBufferPointer) {
    if room - bytes.count < source.count { return fill() }
    bytes.append(contentsOf: source)
  }

  private mutating func fill() {
    bytes += [UInt8](repeating: 0, count: room - bytes.count)
  }

  private mutating func put(_ layout: TableLayout, _ table: TableReader) {
    if isFull { return }
    put(UInt8(1))
    for property in layout.properties { put(table.value(of: property), property.kind) }
  }

  /// A field of a table.
  private mutating func put(_ value: LayoutValue, _ kind: Property.Kind) {
    if case .null = value {
      if isFull { return }
      return put(UInt8(0))
    }
    switch kind {
    case .scalar(_, nil), .enumeration(_, nil), .structure: put(UInt8(1))
    default: break
    }
    put(value)
  }

  /// Writes a value that is present.
  private mutating func put(_ value: LayoutValue) {
    if isFull { return }
    switch value {
    case .null: put(UInt8(0))
    case .scalar(let type, let value): put(value, type)
    case .enumeration(_, let raw): put(Int8(truncatingIfNeeded: raw))
    case .string(let text):
      put(UInt8(1))
      put(UInt32(text.count))
      put(text)
    case .defaultString: preconditionFailure("no layout has one")
    case .structure(let layout, let structure):
      for property in layout.properties { put(structure.value(of: property)) }
    case .table(let layout, let table): put(layout, table)
    case .union(let member, let union):
      put(member.tag)
      put(union.value(member.kind))
    case .vector(let elements):
      var indices = Array(0..<elements.count)
      if dropsEmpty { indices.removeAll { if case .null = elements[$0] { true } else { false } } }
      if case .array = elements.storage {} else { put(UInt32(indices.count)) }
      for index in indices where !isFull { put(elements[index]) }
    }
  }

  private mutating func put(_ value: Value, _ type: ValueType) {
    switch (type.size, value) {
    case (4, .real(let number)):
      put((number.isNaN ? Float.nan : Float(number)).bitPattern)
    case (_, .real(let number)): put((number.isNaN ? Double.nan : number).bitPattern)
    case (1, _): put(UInt8(truncatingIfNeeded: value.bits))
    case (2, _): put(UInt16(truncatingIfNeeded: value.bits))
    case (4, _): put(UInt32(truncatingIfNeeded: value.bits))
    default: put(value.bits)
    }
  }
}
