// ConstantBuffer: memory that is written once and only read afterwards.
//
// Compiled layouts and conditions are arrays of plain records. Reading an element of an `Array`
// checks its bounds, and passing one on retains it; both would show in the loops over every row.

/// A list of plain records, to be read by any thread. Its owner deallocates it.
///
/// Unchecked: the memory is known to this value and its copies only, and none of them writes to it
/// after `init`.
struct ConstantBuffer<Element: BitwiseCopyable>:
  RandomAccessCollection, BitwiseCopyable, @unchecked Sendable
{
  private let memory: UnsafeBufferPointer<Element>

  init(_ elements: [Element]) {
    let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = buffer.initialize(from: elements)
    memory = UnsafeBufferPointer(buffer)
  }

  @inline(__always) var baseAddress: UnsafePointer<Element>? { memory.baseAddress }
  @inline(__always) var startIndex: Int { 0 }
  @inline(__always) var endIndex: Int { memory.count }

  @inline(__always)
  subscript(index: Int) -> Element { memory[index] }

  @inline(__always)
  func makeIterator() -> UnsafeBufferPointer<Element>.Iterator { memory.makeIterator() }

  func deallocate() { memory.deallocate() }
}
