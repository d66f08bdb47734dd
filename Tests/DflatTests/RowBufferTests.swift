// Rows on their way into a result: none is lost, none is leaked.

import Testing

@testable import Dflat

@Suite("Row buffers")
struct RowBufferTests {
  /// Tracks which rows are still alive.
  private final class Watch {
    private weak var storage: RowStorage?
    var isAlive: Bool { storage != nil }

    init(_ row: Row) { storage = row.storage }
  }

  private func alive(_ watches: [Watch]) -> Int { watches.count { $0.isAlive } }

  private struct Failure: Error {}

  private func row(_ id: Int) -> Row {
    Row(sound: UnsafeRawBufferPointer(start: nil, count: 0), id: Int64(id))
  }

  private func buffer(of count: Int, _ watches: inout [Watch]) -> RowBuffer {
    var buffer = RowBuffer()
    for id in 0..<count {
      let row = row(id)
      watches.append(Watch(row))
      buffer.append(row)
    }
    return buffer
  }

  @Test("Rows come out in order, owned by the array only", arguments: [0, 1, 2, 16, 17, 1000])
  func mapped(count: Int) {
    var watches: [Watch] = []
    var array = buffer(of: count, &watches).map { $0 }
    #expect(array.map(\.id) == (0..<count).map(Int64.init))
    #expect(alive(watches) == count)
    array = []
    #expect(alive(watches) == 0)
  }

  @Test("One row needs no memory, and more rows can follow")
  func one() {
    let none = RowBuffer(nil).map { $0 }
    #expect(none.isEmpty)
    var single = row(7)
    let watch = Watch(single)
    var buffer = RowBuffer(single)
    single = row(8)
    #expect(buffer.count == 1 && buffer[0].id == 7 && buffer.start == nil)
    buffer.append(row(9))
    #expect(buffer.count == 2 && buffer[0].id == 7 && buffer[1].id == 9)
    let ids = buffer.map { $0.id }
    #expect(ids == [7, 9] && !watch.isAlive)
    let array = RowBuffer(row(3)).map { $0 }
    #expect(array.map(\.id) == [3])
  }

  @Test("Rows that are not taken are released with the buffer", arguments: [0, 1, 2, 100])
  func dropped(count: Int) {
    var watches: [Watch] = []
    _ = buffer(of: count, &watches)
    #expect(watches.count == count && alive(watches) == 0)
    let single = { () -> Watch in
      let row = row(1)
      let watch = Watch(row)
      _ = RowBuffer(row)
      return watch
    }()
    #expect(!single.isAlive)
  }

  @Test("A fetch that fails midway releases its rows", arguments: [1, 5, 50])
  func failure(count: Int) {
    var watches: [Watch] = []
    func fetch() throws -> RowBuffer {
      let buffer = buffer(of: count, &watches)
      if buffer.count > 0 { throw Failure() }
      return buffer
    }
    #expect(throws: Failure.self) { _ = try fetch() }
    #expect(watches.count == count && alive(watches) == 0)
  }
}
