// Copies of a source that goes on being used, copies that are interrupted, and many objects.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import PostgresTestSupport
import Testing

/// Changes posts at random: new ones, other values, other keys, exchanged unique values, deletions,
/// and keys that are used again.
private final class RandomWriter: Sendable {
  private let random: Mutex<SeededGenerator>
  private let dflat: any Workspace

  init(_ dflat: any Workspace, seed: UInt64) {
    random = Mutex(SeededGenerator(seed: seed))
    self.dflat = dflat
  }

  private func number(_ range: ClosedRange<Int32>) -> Int32 {
    random.withLock { Int32.random(in: range, using: &$0) }
  }

  /// Runs some transactions on this thread.
  func write(_ count: Int) throws {
    for _ in 0..<count {
      let (kind, first, second) = (number(0...5), number(1...60), number(1...60))
      let (likes, value) = (number(0...4), number(0...99))
      try dflat.write(Post.self) { txn in
        let posts = try txn.fetch(for: Post.self)
        func find(_ number: Int32) throws -> Post? {
          try posts.where(Post.site == "s" && Post.number == number).first
        }
        let (left, right) = (try find(first), try find(second))
        switch (kind, left, right) {
        case (0, let left?, _): try txn.delete(left)
        case (1, let left?, nil): try txn.update(left) { $0.number = second }
        case (2, let left?, let right?) where first != second:
          // Both exchange their unique values.
          let (one, other) = (left.attachment, right.attachment)
          try txn.update(left) { $0.attachment = nil }
          try txn.update(right) { $0.attachment = one }
          try txn.update(left) { $0.attachment = other }
        case (3, let left?, let right?) where first != second:
          // Both exchange their keys.
          try txn.update(left) { $0.number = 1000 }
          try txn.update(right) { $0.number = first }
          try txn.update(try find(1000) ?? left) { $0.number = second }
        case (4, let left?, _):
          // The key is used again.
          try txn.delete(left)
          try txn.insert(post(first, likes: likes))
        case (_, let left?, _): try txn.update(left) { $0.likes = likes }
        case (_, nil, _): try txn.insert(post(first, likes: likes, photo: "p\(value) \(first)"))
        }
        var values = txn.dictionary
        values["last"] = Int(value)
        values["post \(first)"] = kind == 5 ? nil : Int(kind)
      }
    }
  }
}

/// Expects that both sides have the same values in their dictionaries.
private func expectSameValues(_ source: any Workspace, _ target: any Workspace) {
  #expect(source.dictionary.keys.sorted() == target.dictionary.keys.sorted())
  for key in source.dictionary.keys {
    #expect(source.dictionary[key, Int.self] == target.dictionary[key, Int.self])
  }
}

extension EnginePair {
  /// Engines that keep objects outside of the program's memory.
  fileprivate static let fromFiles = [
    EnginePair(source: .sqlite, target: .sqlite), EnginePair(source: .sqlite, target: .postgres),
    EnginePair(source: .postgres, target: .sqlite),
  ]
}

/// The memory that the program has at the moment.
private func residentBytes() -> Int {
  let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(
    separator: " ")
  return (fields?.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// By how much the program's memory grows at most while objects of 4 kB are copied.
private func growthOfMemory(copying count: Int32, _ engines: EnginePair) async throws -> Int {
  var growth = 0
  try await withTwoWorkspaces(engines) { source, target in
    let name = String(repeating: "x", count: 4000)
    for start in stride(from: 0, to: count, by: 2000) {
      try await source.dflat.write(Post.self) { txn in
        try txn.insert(
          contentsOf: (start..<start + 2000).map {
            Post(site: "s", number: $0, author: Blog.Author(handle: "a", name: name))
          })
      }
    }
    let before = residentBytes()
    let most = Atomic(before)
    let report = try await source.dflat.copy(Post.self, to: target.dflat) { _ in
      most.max(residentBytes(), ordering: .relaxed)
    }
    #expect(report.tables[Post._schema.table]?.count == Int(count))
    growth = most.load(ordering: .relaxed) - before
  }
  return growth
}

/// Copies posts, and cancels the copy when it tells the first progress of a stage.
func cancelledCopy(
  _ source: any Workspace, _ target: any Workspace, at stage: CopyProgress.Stage
) async throws {
  let isKnown = DispatchSemaphore(value: 0)
  let known = Mutex<Task<Void, any Error>?>(nil)
  let task = Task {
    _ = try await source.copy(Post.self, to: target) { progress in
      if progress.stage != stage { return }
      // The task may not be known yet when it begins.
      isKnown.wait()
      known.withLock { $0 }?.cancel()
      isKnown.signal()
    }
  }
  known.withLock { $0 = task }
  isKnown.signal()
  try await task.value
}

@Suite("Copies of a source in use")
struct CopyingMeanwhileTests {
  @Test(
    "What is written between the portions arrives in its last state",
    arguments: EnginePair.all)
  func changes(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...60).map { post($0, likes: $0 % 5, photo: "p\($0)") })
      try source.store((2000...3200).map { post($0) })
      let writer = RandomWriter(source.dflat, seed: 7)
      try writer.write(20)
      let stages = Log<CopyProgress.Stage>()
      try await source.dflat.copy(Post.self, to: target.dflat) { progress in
        stages.add(progress.stage)
        if progress.stage == .finishing { return }
        do { try writer.write(12) } catch { Issue.record(error) }
      }
      #expect(stages.events.contains(.catchingUp) && stages.events.contains(.finishing))
      try await expectSamePosts(source, target)
      expectSameValues(source.dflat, target.reopened().dflat)
      expectSameValues(source.dflat, target.dflat)
    }
  }

  @Test(
    "A writer that goes on loses nothing when the program switches over",
    arguments: EnginePair.all)
  func writer(engines: EnginePair) async throws {
    struct HasMoved: Error {}
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...2000).map { post($0, photo: "p\($0)") })
      let hasMoved = Atomic(false)
      let (dflat, other) = (source.dflat, target.dflat)
      let counted = Task { () -> Int32 in
        var count: Int32 = 0
        while true {
          let number = count % 2000 + 1
          let (wanted, extra) = (count + 1, count % 3 == 0 ? 10_000 + count : nil)
          do {
            try await dflat.write(Post.self) { txn in
              if hasMoved.load(ordering: .acquiring) { throw HasMoved() }
              let post = try txn.fetch(for: Post.self)
                .where(Post.site == "s" && Post.number == number).first
              if let post { try txn.update(post) { $0.likes = wanted } }
              if let extra { try txn.insert(DflatTestSupport.post(extra)) }
            }
          } catch is HasMoved { return count }
          count += 1
          // Some changes are made, and few enough for the copy to end.
          if count > 400 { try await Task.sleep(for: .milliseconds(1)) }
        }
      }
      try await dflat.copy(
        Post.self, to: other, switchOver: { hasMoved.store(true, ordering: .releasing) })
      let count = try await counted.value
      try await expectSamePosts(source, target)
      #expect(other.fetch(for: Post.self).all().map(\.likes).max() == count)
    }
  }

  @Test("What another program has changed meanwhile arrives, too", arguments: EnginePair.all)
  func otherProgram(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...60).map { post($0, photo: "p\($0)") })
      let another = source.reopened()
      let writer = RandomWriter(another.dflat, seed: 3)
      let calls = Atomic(0)
      try await source.dflat.copy(Post.self, to: target.dflat) { progress in
        if progress.stage == .finishing || calls.add(1, ordering: .relaxed).newValue > 6 { return }
        do { try writer.write(5) } catch { Issue.record(error) }
      }
      try await expectSamePosts(source, target)
      expectSameValues(another.dflat, target.dflat)
    }
  }

  @Test("Memory does not depend on the number of objects", arguments: EnginePair.fromFiles)
  func memory(engines: EnginePair) async throws {
    // In a process of its own: other tests take memory as well.
    await #expect(processExitsWith: .success) { [name = engines.testDescription as String] in
      let engines = try #require(EnginePair.fromFiles.first { $0.testDescription == name })
      let count: Int32 = isLongRun ? 100_000 : 6000
      let growth = try await growthOfMemory(copying: count, engines)
      #expect(growth < 20 << 20, "the copy of \(count) objects of 4 kB took \(growth) bytes")
      if isLongRun { print("\(name): \(count) objects, \(growth) bytes") }
    }
  }

  // MARK: Interruptions

  @Test(
    "A copy that was cancelled is continued, though the source has changed since",
    arguments: EnginePair.all + EnginePair.inEveryIndexState)
  func cancelled(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...60).map { post($0, likes: $0 % 5, photo: "p\($0)") })
      try source.store((2000...3500).map { post($0) })
      let writer = RandomWriter(source.dflat, seed: 11)
      var random = SeededGenerator(seed: 5)
      for stage in [CopyProgress.Stage.copying, .verifying] {
        await #expect(throws: CancellationError.self) {
          try await cancelledCopy(source.dflat, target.dflat, at: stage)
        }
        try writer.write(30)
        try source.remove(Array(2000...2100))
        try source.store([post(2050), post(2060)])
        try target.disturbIndexes(of: Post._schema, using: &random)
      }
      #expect(target.dflat.fetch(for: Post.self).all().count > 0)
      try await source.dflat.copy(Post.self, to: target.dflat)
      try await expectSamePosts(source, target)
      expectSameValues(source.dflat, target.dflat)
    }
  }
}
