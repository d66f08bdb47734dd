// Trimming in the background: how often, and what becomes of its errors.

import DflatTestSupport
import MemoryDflat
import Platform
@testable import Silo
import Testing

@Suite("Trimming in the background")
struct TrimmingTests {
  @Test("While one pass goes on, at most one more waits")
  func passes() async throws {
    let folders = Silos(.memory)[Folder.self]
    folders.retention = .recent(count: 2)
    // As a long pass does.
    await folders.state.accesses.turn.enterAlone()
    try await folders.save((0..<5).map { Folder($0) })
    #expect(await inTime { folders.state.accesses.turn.isAwaited })
    #expect(!folders.state.accesses.beginTrimming())
    folders.state.accesses.turn.leaveAlone()
    #expect(try await inTime { try await folders.count() == 2 })
  }

  @Test("A workspace that is shut down before a pass begins reports nothing")
  func shutdown() async throws {
    let memory = MemoryWorkspace()
    let count = Mutex(0)
    memory.errorHandler = { _ in count.withLock { $0 += 1 } }
    let folders = Silos(in: memory)[Folder.self]
    folders.retention = .recent(count: 2)
    await folders.state.accesses.turn.enterAlone()
    try await folders.save((0..<5).map { Folder($0) })
    await memory.shutdown(flags: [])
    #expect(await inTime { folders.state.accesses.turn.isAwaited })
    folders.state.accesses.turn.leaveAlone()
    // Behind the pass.
    await folders.state.accesses.turn.enterAlone()
    folders.state.accesses.turn.leaveAlone()
    #expect(count.withLock { $0 } == 0)
  }

  @Test("An error of trimming in the background is reported")
  func backgroundError() async throws {
    let memory = MemoryWorkspace()
    try await Silos(in: memory)[Memo.self].save(Memo(1, in: 7, labels: ["a"]))
    let errors = Mutex<[SiloError]>([])
    memory.errorHandler = { error in
      if let error = error as? SiloError { errors.withLock { $0.append(error) } }
    }
    let labels = Silos(in: memory)[Label.self]
    labels.retention = .recent(count: 0)
    try await labels.save(Label(id: "a"))
    #expect(await inTime { errors.withLock { !$0.isEmpty } })
    #expect(errors.withLock { $0.first } == .unknownReferrer(table: "memos", target: "Label"))
  }
}
