// FloorCounter: counters as in a C program: direct encoding.

import Dflat

extension FloorReader {
  var counterNumber: Int64 { scalar(4) }
  var counterCount: Int64 { scalar(6) }
  var counterText: FloorBytes { bytes(8) }
}

extension FloorEncoder {
  /// The same encoding as Dflat's generated code. The count is omitted if it is 0.
  @inline(__always)
  mutating func encode(number: Int64, count: Int64, text: FloorBytes) -> UnsafeRawBufferPointer {
    start()
    let text = string(text)
    pad(before: 8, to: 8)
    let end = used
    push(number)
    let numberField = used
    if count != 0 { push(count) }
    let countField = count == 0 ? 0 : used
    let textField = reference(text)
    let table = startVTable()
    push(UInt16(truncatingIfNeeded: table &- textField))
    push(UInt16(truncatingIfNeeded: countField == 0 ? 0 : table &- countField))
    push(UInt16(truncatingIfNeeded: table &- numberField))
    push(UInt16(truncatingIfNeeded: table &- end))
    push(UInt16(10))
    endVTable(of: table)
    return finish(table, alignment: 8)
  }

  /// A counter's row with a greater count.
  @inline(__always)
  mutating func incremented(_ row: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard let start = row.baseAddress else { return row }
    let counter = FloorReader(row: start)
    return encode(
      number: counter.counterNumber, count: counter.counterCount + 1, text: counter.counterText)
  }
}
