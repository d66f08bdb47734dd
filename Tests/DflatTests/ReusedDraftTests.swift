// One draft for many objects, without the values of others.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("A draft for many objects")
struct ReusedDraftTests {
  /// Sets fields of the next object, and returns the draft.
  private func use(
    _ reused: inout ReusedDraft<Kit.ItemChangeRequest>, _ set: (Kit.ItemChangeRequest) -> Void
  ) -> Kit.ItemChangeRequest {
    let empty = Kit.Item._empty
    let draft = reused.next(.creation(of: empty._row), base: empty)
    set(draft)
    reused.note(draft)
    return draft
  }

  @Test("is given up as soon as it holds a value that the last object did not set")
  func values() {
    var reused = ReusedDraft<Kit.ItemChangeRequest>()
    let first = use(&reused) { $0.name = "a" }
    let second = use(&reused) { $0.name = "b" }
    #expect(first === second)
    let third = use(&reused) {
      $0.name = "c"
      $0.maybeReal = 1
    }
    #expect(third === first)
    // The number is left over here, and encoded once more.
    let fourth = use(&reused) { $0.name = "d" }
    #expect(fourth === first)
    let fifth = use(&reused) { $0.name = "e" }
    #expect(fifth !== first)
    #expect(use(&reused) { $0.name = "f" } === fifth)
  }
}
