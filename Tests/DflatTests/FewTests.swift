import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Lists of few elements")
struct FewTests {
  @Test("They have what an array has, after any changes")
  func model() {
    withSeed { random in
      var few = Few<Int>()
      var model: [Int] = []
      for step in 0..<2_000 {
        switch random.pick([0, 0, 0, 1, 1, 2]) {
        case 0:
          few.append(step)
          model.append(step)
        case 1: #expect(few.popLast() == model.popLast())
        default:
          if random.oneIn(8) {
            few.removeAll()
            model.removeAll()
          }
        }
        #expect(Array(few) == model && few.first == model.first, "DFLAT_SEED=\(random.seed)")
        #expect(few.count == model.count && few.isEmpty == model.isEmpty)
      }
    }
  }
}
