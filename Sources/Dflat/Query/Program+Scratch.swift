// Scratch: the memory of one evaluation.
//
// Some instructions produce texts that are not in the row's bytes, such as a text in lower case.
// They are written to memory on the stack, or to allocated memory if they are long, and are valid
// until the evaluation ends. Programs without such instructions get none.

import Platform

/// nil for programs that need no memory.
typealias ScratchMemory = UnsafeMutablePointer<Scratch>?

struct Scratch: ~Copyable {
  /// What the variables of the program stand for.
  let elements: UnsafeMutablePointer<ElementSlot>
  private var next: UnsafeMutablePointer<UInt8>
  private let end: UnsafeMutablePointer<UInt8>
  /// Memory for texts that do not fit on the stack.
  private var blocks: [UnsafeMutablePointer<UInt8>] = []

  fileprivate init(
    _ stack: UnsafeMutableBufferPointer<UInt8>, _ elements: UnsafeMutablePointer<ElementSlot>
  ) {
    self.elements = elements
    next = stack.baseAddress.unsafelyUnwrapped
    end = next + stack.count
  }

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// The end of the texts so far.
  var mark: UnsafeMutablePointer<UInt8> { next }

  /// Forgets the texts behind a mark. Texts in allocated memory remain.
  mutating func reset(to mark: UnsafeMutablePointer<UInt8>) { next = mark }

  /// The folded form of a text; see `CaseFolding`.
  mutating func fold(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    write(atMost: CaseFolding.capacity(for: text.count)) { CaseFolding.fold(text, into: $0) }
  }

  /// A copy of a text.
  mutating func copy(_ text: String) -> UnsafeRawBufferPointer {
    var text = text
    return text.withUTF8 { source in
      write(atMost: source.count) { target in
        if let start = source.baseAddress { target.update(from: start, count: source.count) }
        return source.count
      }
    }
  }

  /// - Parameters:
  ///   - size: The most bytes that will be written.
  ///   - body: Writes bytes and returns their number.
  private mutating func write(
    atMost size: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
  ) -> UnsafeRawBufferPointer {
    if size > end - next {
      let block = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
      blocks.append(block)
      return UnsafeRawBufferPointer(start: block, count: body(block))
    }
    let start = next
    next += body(start)
    return UnsafeRawBufferPointer(start: start, count: next - start)
  }
}

extension Program {
  /// Calls `body` with memory for one evaluation, or nil if the program needs none.
  @inline(__always)
  func withScratch<R, E: Error>(_ body: (ScratchMemory) throws(E) -> R) throws(E) -> R {
    try Self.withScratch(needsScratch, slotCount, body)
  }

  /// The same for the evaluation of several programs.
  /// - Parameters:
  ///   - isNeeded: Whether one of them needs memory.
  ///   - slotCount: The greatest number of variables of one of them.
  @inline(__always)
  static func withScratch<R, E: Error>(
    _ isNeeded: Bool, _ slotCount: Int, _ body: (ScratchMemory) throws(E) -> R
  ) throws(E) -> R {
    isNeeded ? try withNewScratch(slotCount, body) : try body(nil)
  }

  @inline(never)
  private static func withNewScratch<R, E: Error>(
    _ slotCount: Int, _ body: (ScratchMemory) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { stack throws(E) in
      try withUnsafeTemporaryAllocation(of: ElementSlot.self, capacity: slotCount + 1) {
        elements throws(E) in
        elements.initialize(repeating: ElementSlot())
        var scratch = Scratch(stack, elements.baseAddress.unsafelyUnwrapped)
        return try withUnsafeMutablePointer(to: &scratch) { pointer throws(E) in
          try body(pointer)
        }
      }
    }
  }
}
