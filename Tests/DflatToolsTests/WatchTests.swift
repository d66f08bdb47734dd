// Watching what other connections commit.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A watch")
struct WatchTests {
  /// What a watch has reported so far.
  private final class Seen: Sendable {
    private let changes = Mutex<[ObjectChange]>([])
    private let more = DispatchSemaphore(value: 0)

    func add(_ change: ObjectChange) {
      changes.withLock { $0.append(change) }
      more.signal()
    }

    /// Waits for the next change.
    func next() throws -> ObjectChange {
      more.expect("a change")
      return try changes.withLock { changes in
        try #require(!changes.isEmpty)
        return changes.removeFirst()
      }
    }
  }

  @Test("Each committed change is reported with its key and the fields that changed")
  func changes() throws {
    try withTemporaryFile { file in
      try file.store((1...3).map { post($0, likes: $0) })
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let (stop, seen, began) = (StopSignal(), Seen(), DispatchSemaphore(value: 0))
      let ended = DispatchSemaphore(value: 0)
      let failure = Mutex<(any Error)?>(nil)
      Thread.detachNewThread {
        do {
          try data.watch(every: 1, until: stop, began: { began.signal() }) { seen.add($0) }
        } catch { failure.withLock { $0 = error } }
        ended.signal()
      }
      began.expect("the first look")
      try file.change(2) {
        $0.likes = 20
        $0.tags = ["a"]
      }
      let updated = try seen.next()
      #expect(updated.kind == .updated && updated.type == "Post" && updated.key == ["s", "2"])
      #expect(updated.fields.map(\.name) == ["likes", "tags"])
      #expect(updated.fields.map(\.old) == ["2", "[]"])
      #expect(updated.fields.map(\.new) == ["20", #"["a"]"#])
      try file.store([post(4)])
      let inserted = try seen.next()
      #expect(inserted.kind == .inserted && inserted.key == ["s", "4"] && inserted.fields.isEmpty)
      try file.remove([1, 4])
      let gone = [try seen.next(), try seen.next()]
      #expect(gone.map(\.kind) == [.deleted, .deleted])
      #expect(gone.map(\.key) == [["s", "1"], ["s", "4"]])
      stop.stop()
      ended.expect("the end of the watch")
      #expect(failure.withLock { $0 } == nil)
    }
  }

  @Test("A file that no program has open is watched, and leaves no trace")
  func closedFile() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    func store(_ number: Int32) throws {
      let file = TemporaryFile(path: path)
      try file.store([post(number)])
      file.dflat.shutdown()
    }
    try store(1)
    let data = try DataFile.open(path)
    defer { data.close() }
    let stop = StopSignal()
    let keys = Mutex<[[String]]>([])
    try data.watch(
      every: 1, until: stop,
      began: {
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["test.db"])
        try store(2)
      }
    ) { change in
      keys.withLock { $0.append(change.key) }
      if change.key == ["s", "2"] { try store(3) } else { stop.stop() }
    }
    #expect(keys.withLock { $0 } == [["s", "2"], ["s", "3"]])
  }

  @Test("A query is answered again when its answer changes, and not otherwise")
  func query() throws {
    try withTemporaryFile { file in
      try file.store((1...3).map { post($0, likes: $0) })
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let stop = StopSignal()
      let answers = Mutex<[Int]>([])
      try data.watch(
        every: 1, until: stop,
        asking: { try data.query("Post where likes > 2").objects.count }
      ) { answer in
        answers.withLock { $0.append(answer) }
        switch answer {
        case 1:
          // The first of the two does not change the answer.
          try file.store([post(4)])
          try file.store([post(5, likes: 5)])
        default: stop.stop()
        }
      }
      #expect(answers.withLock { $0 } == [1, 2])
    }
  }
}
