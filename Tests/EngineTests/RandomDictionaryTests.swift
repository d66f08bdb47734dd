// Random operations on the dictionary against a Swift dictionary, and many threads at once.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("The dictionary, at random")
struct RandomDictionaryTests {
  @Test(
    "Many threads set, read, remove and watch; disk and memory end in the same state",
    arguments: TestEngine.all)
  func threads(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let last = Mutex<[String: Int?]>([:])
      let subscriptions = (0..<4).map { number in
        dflat.dictionary.subscribe("k\(number)", of: Int.self) { event in
          let value: Int? =
            switch event {
            case .initial(let value): value
            case .updated(let value): value
            case .deleted: nil
            }
          last.withLock { $0["k\(number)"] = .some(value) }
        }
      }
      let rounds = isLongRun ? 4000 : 300
      DispatchQueue.concurrentPerform(iterations: 6) { thread in
        for round in 0..<rounds {
          let key = "k\((round + thread) % 4)"
          switch (round * 7 + thread) % 16 {
          case 0..<8: dflat.dictionary[key] = thread * rounds + round
          case 8..<12: _ = dflat.dictionary[key, Int.self]
          case 12: dflat.dictionary[key] = nil as Int?
          case 13 where round % 50 == 0:
            var d = dflat.dictionary
            d.removeAll()
          case 14 where round % 20 == 0: dflat.dictionary.synchronize()
          case 15 where round % 10 == 0:
            dflat.performChanges([Post.self]) { $0.dictionary[key] = -round }
          default: break
          }
        }
      }
      // Every earlier change is delivered when this returns.
      try workspace.write([Post.self]) { _ in }
      dflat.dictionary.synchronize()
      let second = workspace.reopened()
      for number in 0..<4 {
        let value = dflat.dictionary["k\(number)", Int.self]
        #expect(second.dflat.dictionary["k\(number)", Int.self] == value)
        #expect(last.withLock { $0["k\(number)"] } == .some(.some(value)) || value == nil)
      }
      withExtendedLifetime(subscriptions) {}
    }
  }
}
