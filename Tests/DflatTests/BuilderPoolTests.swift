// The pool of builders: each builder has one owner at a time, and is empty when it is taken.

import DflatTestSupport
import Dispatch
import FlatBuffersRuntime
import Testing

@testable import Dflat

@Suite("The pool of builders")
struct BuilderPoolTests {
  @Test("Builders in use at the same time are distinct, and reused ones are empty")
  func takenTogether() {
    for _ in 0..<3 {
      let builders = (0..<12).map { _ in BuilderPool.take() }
      #expect(Set(builders.map { $0.toOpaque() }).count == 12)
      for taken in builders {
        let builder = taken.takeUnretainedValue()
        #expect(builder.used == 0)
        _ = builder.string("left behind")
        builder.startTable(slotCount: 3)
        BuilderPool.giveBack(taken)
      }
    }
  }

  @Test("Nested and concurrent builds do not interfere")
  func threads() {
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 {
        let text = "thread \(thread), number \(number)"
        let item = Kit.Item(
          _row: Row { builder in
            let inner = Kit.Item(name: text, serial: UInt64(number))
            return inner._encode(to: builder)
          })
        #expect(item.name == text && item.serial == UInt64(number))
      }
    }
  }
}
