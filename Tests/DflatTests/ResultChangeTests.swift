// The difference between two results.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Differences of results")
struct ResultChangeTests {
  @Test("A difference turns the old array into the new one")
  func differences() throws {
    withSeed { random in
      for _ in 0..<(isLongRun ? 20_000 : 1000) {
        let old = posts(&random)
        var new = old.filter { _ in !random.oneIn(4) }.map { post in
          if !random.oneIn(3) { return post }
          return Post(_row: post._row).with(likes: Int32.random(in: 0..<3, using: &random))
        }
        if random.oneIn(2) { new.shuffle(using: &random) }
        if random.oneIn(2), new.count > 1 { new.swapAt(0, new.count - 1) }
        for entering in posts(&random) where !old.contains(where: { $0._rowid == entering._rowid })
        {
          new.insert(entering, at: Int.random(in: 0...new.count, using: &random))
        }
        let change = ResultChange(from: FetchedResult(old), to: FetchedResult(new))
        var array = old
        change.apply(to: &array)
        let seed = random.seed
        #expect(array == new && array.map(\._rowid) == new.map(\._rowid), "DFLAT_SEED=\(seed)")
        #expect(old.applying(change.collectionDifference) == new, "DFLAT_SEED=\(seed)")
        let updated = Set(change.updates.map(\.element._rowid))
        for post in new {
          guard let before = old.first(where: { $0._rowid == post._rowid }) else { continue }
          #expect(updated.contains(post._rowid) == (before != post), "DFLAT_SEED=\(seed)")
        }
        #expect(change.isEmpty == (old == new && old.map(\._rowid) == new.map(\._rowid)))
      }
    }
  }

  /// A few posts with row ids.
  private func posts(_ random: inout SeededGenerator) -> [Post] {
    var ids = Array(Int64(1)...14)
    ids.shuffle(using: &random)
    return ids.prefix(Int.random(in: 0...10, using: &random)).map { id in
      Post(_row: post(Int32(id), likes: 0)._row.stored(as: id))
    }
  }
}

extension Row {
  /// The same bytes as a stored row.
  fileprivate func stored(as id: Int64) -> Row { withBytes { Row(sound: $0, id: id) } }
}

extension Post {
  fileprivate func with(likes: Int32) -> Post {
    var builder = Blog.PostBuilder(from: self)
    builder.likes = likes
    return Post(_row: builder.build()._row.stored(as: _rowid))
  }
}
