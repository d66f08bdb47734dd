// Demand and cancellation as in Combine, but without Combine.

import DflatTestSupport
import Dispatch
import SQLiteDflat
import Platform
import Testing

@testable import Dflat

@Suite("Demand")
struct DemandTests {
  private final class Reader: Sendable {
    let values = Mutex<[Int]>([])
    let ends = Mutex(0)
    let starts = Mutex(0)
    let cancels = Mutex(0)
  }

  private final class Noting: WorkspaceSubscription {
    let reader: Reader
    init(_ reader: Reader) { self.reader = reader }
    func cancel() { reader.cancels.withLock { $0 += 1 } }
  }

  private func buffer(
    _ reader: Reader, more: DemandBuffer<Int>.Demand = .atMost(0)
  ) -> DemandBuffer<Int> {
    DemandBuffer(
      receive: { value in
        reader.values.withLock { $0.append(value) }
        return more
      }, finish: { reader.ends.withLock { $0 += 1 } },
      start: { _ in
        reader.starts.withLock { $0 += 1 }
        return Noting(reader)
      })
  }

  @Test("Delivery begins at the first demand, is limited to it, and gives the newest value")
  func newest() {
    let reader = Reader()
    let buffer = buffer(reader)
    buffer.request(.atMost(0))
    #expect(reader.starts.withLock { $0 } == 0)
    buffer.request(.atMost(1))
    buffer.request(.atMost(1))
    #expect(reader.starts.withLock { $0 } == 1)
    for value in 1...5 { buffer.send(value) }
    #expect(reader.values.withLock { $0 } == [1, 2])
    buffer.request(.atMost(2))
    #expect(reader.values.withLock { $0 } == [1, 2, 5])
    buffer.send(6)
    buffer.send(7)
    #expect(reader.values.withLock { $0 } == [1, 2, 5, 6])
    buffer.request(.unlimited)
    for value in 8...9 { buffer.send(value) }
    #expect(reader.values.withLock { $0 } == [1, 2, 5, 6, 7, 8, 9])
  }

  @Test("A subscriber may add demand with each value, and while it receives one")
  func more() {
    let reader = Reader()
    let buffer = buffer(reader, more: .atMost(1))
    buffer.request(.atMost(1))
    for value in 1...4 { buffer.send(value) }
    #expect(reader.values.withLock { $0 } == [1, 2, 3, 4])

    let inner = Mutex<DemandBuffer<Int>?>(nil)
    let other = Reader()
    let nested = DemandBuffer<Int>(
      receive: { value in
        other.values.withLock { $0.append(value) }
        if value < 3 {
          inner.withLock { $0 }?.send(value + 1)
          inner.withLock { $0 }?.request(.atMost(1))
        }
        return .atMost(0)
      }, finish: {}, start: { _ in nil })
    inner.withLock { $0 = nested }
    nested.request(.atMost(1))
    nested.send(1)
    #expect(other.values.withLock { $0 } == [1, 2, 3])
    inner.withLock { $0 = nil }
  }

  @Test("The completion follows the last value, which waits for demand")
  func end() {
    let reader = Reader()
    let buffer = buffer(reader)
    buffer.request(.atMost(1))
    buffer.send(1)
    buffer.send(2)
    buffer.finish()
    #expect(reader.ends.withLock { $0 } == 0)
    buffer.request(.atMost(1))
    #expect(reader.values.withLock { $0 } == [1, 2])
    #expect(reader.ends.withLock { $0 } == 1)
    #expect(reader.cancels.withLock { $0 } == 1)
    buffer.send(3)
    buffer.finish()
    #expect(reader.values.withLock { $0 } == [1, 2] && reader.ends.withLock { $0 } == 1)
  }

  @Test("Cancellation ends delivery and releases the subscriber")
  func cancel() {
    final class Thing: Sendable {}
    let reader = Reader()
    var thing: Thing? = Thing()
    weak let weakThing = thing
    let buffer = DemandBuffer<Int>(
      receive: { [thing] value in
        _ = thing
        reader.values.withLock { $0.append(value) }
        return .unlimited
      }, finish: { reader.ends.withLock { $0 += 1 } }, start: { _ in Noting(reader) })
    thing = nil
    buffer.request(.atMost(1))
    buffer.send(1)
    #expect(weakThing != nil)
    buffer.cancel()
    #expect(weakThing == nil)
    buffer.send(2)
    buffer.finish()
    buffer.request(.unlimited)
    #expect(reader.values.withLock { $0 } == [1] && reader.ends.withLock { $0 } == 0)
    #expect(reader.cancels.withLock { $0 } == 1)
  }

  @Test("Sources: an object until its deletion, a result, a query shared by its subscribers")
  func sources() throws {
    try withTemporaryWorkspace { workspace in
      let core = workspace.dflat._core
      let stored = try workspace.write([Note.self]) { txn in
        try txn.insert(NoteChangeRequest.creationRequest(Note(key: 1, text: "a")))
      }.result
      let note = try #require(stored)
      let texts = Mutex<[String]>([])
      let counts = Mutex<[Int]>([])
      let ends = Mutex(0)
      let object = DemandBuffer<SubscribedObject<Note>>(
        receive: { event in
          texts.withLock {
            if case .updated(let note) = event {
              $0.append(note.text ?? "")
            } else {
              $0.append("-")
            }
          }
          return .atMost(0)
        }, finish: { ends.withLock { $0 += 1 } },
        start: PublisherSource(core: core, object: note).start)
      let source = PublisherSource<FetchedResult<Note>>(core, nil, .noLimit, [])
      let queries = (0..<2).map { _ in
        DemandBuffer<FetchedResult<Note>>(
          receive: { result in
            counts.withLock { $0.append(result.count) }
            return .unlimited
          }, finish: {}, start: source.start)
      }
      object.request(.unlimited)
      for query in queries { query.request(.atMost(1)) }
      #expect(counts.withLock { $0 } == [1, 1])
      try workspace.write([Note.self]) { txn in
        let request = NoteChangeRequest.changeRequest(note)
        request?.text = "b"
        if let request { try txn.submit(request) }
      }
      try workspace.write([Note.self]) { txn in
        if let request = NoteChangeRequest.deletionRequest(note) { try txn.submit(request) }
      }
      #expect(texts.withLock { $0 } == ["b", "-"] && ends.withLock { $0 } == 1)
      #expect(counts.withLock { $0 } == [1, 1, 1, 1, 0, 0])
      for query in queries { query.cancel() }
      try workspace.write([Note.self]) { txn in
        _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: 2)))
      }
      #expect(counts.withLock { $0.count } == 6)
    }
  }
}
