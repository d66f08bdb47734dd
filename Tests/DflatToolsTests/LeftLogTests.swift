// A file whose log a crash or a copy has left, without the index of the log, and that programs use
// while it is looked at.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A log that a crash or a copy has left")
struct LeftLogTests {
  /// Calls `body` with the path of a file with the posts 1 and 2, which are in its log.
  private func withLeftLog(_ body: (String) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try withTemporaryFile { file in
      try file.store([post(1), post(2)])
      let path = "\(directory)/copy.db"
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: file.path + suffix, toPath: path + suffix)
      }
      try body(path)
    }
  }

  /// Adds a post as a program does that opens the file, and closes it again.
  private func add(_ number: Int32, _ path: String) throws {
    var configuration = SQLiteWorkspace.Configuration()
    configuration.busyTimeout = .seconds(1)
    let workspace = SQLiteWorkspace(filePath: path, configuration: configuration)
    defer { workspace.shutdown() }
    try workspace.write(Post.self) { _ = try $0.insert(post(number)) }
  }

  @Test("Programs read and write the file while it is open to be looked at")
  func beside() throws {
    try withLeftLog { path in
      let data = try DataFile.open(path, readerLimit: 4)
      defer { data.close() }
      #expect(try data.count("Post") == 2)
      let second = try DataFile.open(path)
      defer { second.close() }
      #expect(try second.count("Post") == 2)
      #expect(try data.differences(from: second) { _ in } == 0)
      for number in 3...6 as ClosedRange<Int32> {
        try add(number, path)
        #expect(try data.count("Post") == Int(number) && second.count("Post") == Int(number))
      }
    }
  }

  @Test("A commit is seen that makes neither the file nor its log larger")
  func sameSize() throws {
    try withLeftLog { path in
      // What is behind the last commit is no part of the log.
      let log = try FileHandle(forWritingTo: URL(filePath: path + "-wal"))
      try log.seekToEnd()
      try log.write(contentsOf: Data(count: 1 << 20))
      try log.close()
      let data = try DataFile.open(path)
      defer { data.close() }
      #expect(try data.count("Post") == 2)
      let workspace = SQLiteWorkspace(filePath: path)
      defer { workspace.shutdown() }
      try workspace.write(Post.self) { _ = try $0.insert(post(3)) }
      #expect(try data.count("Post") == 3)
    }
  }

  @Test("A watch goes on when programs open and close the file")
  func watch() throws {
    try withLeftLog { path in
      let data = try DataFile.open(path)
      defer { data.close() }
      let stop = StopSignal()
      let (began, more) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let ended = DispatchSemaphore(value: 0)
      let keys = Mutex<[[String]]>([])
      let failure = Mutex<(any Error)?>(nil)
      Thread.detachNewThread {
        do {
          try data.watch(every: 1, until: stop, began: { began.signal() }) { change in
            keys.withLock { $0.append(change.key) }
            more.signal()
          }
        } catch { failure.withLock { $0 = error } }
        ended.signal()
        more.signal()
      }
      began.expect("the first look")
      for number in 11...18 as ClosedRange<Int32> {
        try add(number, path)
        more.expect("a change")
      }
      stop.stop()
      ended.expect("the end of the watch")
      #expect(failure.withLock { $0 == nil })
      #expect(keys.withLock { $0 } == (11...18).map { ["s", "\($0)"] })
    }
  }
}
