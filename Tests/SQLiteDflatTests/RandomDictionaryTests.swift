// Random use of the dictionary, compared with a Swift dictionary; and many threads at once.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import SQLiteDflat
import Testing

@Suite("The dictionary with random operations")
struct RandomDictionaryTests {
  @Test("It equals a Swift dictionary, through reopening, removal and transactions")
  func model() throws {
    try withSeed { random in
      let seed = random.seed
      try withTemporaryFile { workspace in
        var dflat = workspace.dflat
        var held: TemporaryFile?
        var model: [String: Int] = [:]
        let keys = (0..<12).map { "k\($0)" } + ["e\u{301}", "\u{e9}", ""]
        for step in 0..<(isLongRun ? 4000 : 400) {
          let key = random.pick(keys)
          switch Int.random(in: 0..<100, using: &random) {
          case 0..<40:
            let value = Int.random(in: 0..<5, using: &random)
            dflat.dictionary[key] = value
            model[bytes(key)] = value
          case 40..<55:
            dflat.dictionary[key] = nil as Int?
            model[bytes(key)] = nil
          case 55..<60:
            var d = dflat.dictionary
            d.removeAll()
            model = [:]
          case 60..<65: dflat.dictionary.synchronize()
          case 65..<70:
            dflat.shutdown()
            let next = workspace.secondWorkspace()
            held = next
            dflat = next.dflat
          case 70..<80:
            let value = Int.random(in: 5..<9, using: &random)
            let commits = !random.oneIn(3)
            let erases = random.oneIn(4)
            let done = DispatchSemaphore(value: 0)
            dflat.performChanges(
              [Post.self],
              changesHandler: { txn in
                var d = txn.dictionary
                if erases { d.removeAll() }
                d[key] = value
                if d[key, Int.self] != value { Issue.record("DFLAT_SEED=\(seed): step \(step)") }
                if !commits { txn.abort() }
              }
            ) { _ in done.signal() }
            done.expect("the completion")
            if commits {
              if erases { model = [:] }
              model[bytes(key)] = value
            }
          default: break
          }
          if dflat.dictionary[key, Int.self] != model[bytes(key)] {
            Issue.record("DFLAT_SEED=\(seed): step \(step): \(key)")
            return
          }
          if step % 20 == 0, Set(dflat.dictionary.keys.map(bytes)) != Set(model.keys) {
            Issue.record("DFLAT_SEED=\(seed): step \(step): keys")
            return
          }
        }
        dflat.shutdown()
        let last = workspace.secondWorkspace()
        #expect(Set(last.dflat.dictionary.keys.map(bytes)) == Set(model.keys), "DFLAT_SEED=\(seed)")
        withExtendedLifetime(held) {}
      }
    }
  }

  /// Equal only if the bytes are equal.
  private func bytes(_ key: String) -> String { "\(Array(key.utf8))" }

  @Test(
    "A first read during removeAll gives the old value or none, and nothing stale stays")
  func removalRaces() throws {
    try withTemporaryFile { workspace in
      for round in 0..<(isLongRun ? 300 : 30) {
        workspace.dflat.dictionary["k"] = round
        workspace.dflat.dictionary.synchronize()
        let second = workspace.secondWorkspace()
        let dflat = second.dflat
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
          if thread == 0 {
            var d = dflat.dictionary
            d.removeAll()
          } else {
            let value = dflat.dictionary["k", Int.self]
            #expect(value == nil || value == round)
          }
        }
        #expect(dflat.dictionary["k", Int.self] == nil)
        dflat.dictionary.synchronize()
        #expect(dflat.dictionary["k", Int.self] == nil)
        dflat.shutdown()
        workspace.dflat.dictionary["k"] = -1
      }
    }
  }
}
