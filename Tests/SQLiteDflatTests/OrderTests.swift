// The order of transactions, and their concurrency.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Platform
import Testing

@Suite("The order of transactions")
struct OrderTests {
  private static let types: [[Any.Type]] = [
    [Post.self], [Note.self], [Kit.Item.self], [Kit.Slot.self], [Post.self, Note.self],
    [Note.self, Post.self], [Kit.Slot.self, Kit.Item.self, Post.self],
    [Post.self, Kit.Item.self, Note.self, Kit.Slot.self], [Note.self, Note.self],
  ]

  private func insert(_ type: Any.Type, _ number: Int, _ txn: any TransactionContext) {
    switch type {
    case is Post.Type: txn.try(submit: Blog.PostChangeRequest.creationRequest(post(Int32(number))))
    case is Note.Type:
      let request = NoteChangeRequest.creationRequest()
      request.key = UInt64(number)
      txn.try(submit: request)
    default: break
    }
  }

  /// Waits with a timeout, so that a deadlock is a failure and not a hang.
  private func wait(_ semaphore: DispatchSemaphore, _ location: SourceLocation = #_sourceLocation) {
    semaphore.expect("a signal", sourceLocation: location)
  }

  @Test(
    "If the file cannot be written, every transaction completes once, and no queue blocks"
  )
  func cannotOpen() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/missing/test.db"
    let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
    let errors = ErrorBox()
    dflat.errorHandler = { _ in errors.touch() }
    let outcomes = Mutex<[Bool]>([])
    let done = DispatchGroup()
    for types in Self.types {
      done.enter()
      dflat.performChanges(types) { _ in
        Issue.record("the closure ran")
      } completionHandler: { isCommitted in
        outcomes.withLock { $0.append(isCommitted) }
        done.leave()
      }
    }
    done.expect("the end")
    #expect(outcomes.withLock { $0 } == Self.types.map { _ in false })
    #expect(errors.touches == Self.types.count)
    // The cause is removed: the next transaction works.
    try FileManager.default.createDirectory(
      atPath: directory + "/missing", withIntermediateDirectories: false)
    let committed = DispatchSemaphore(value: 0)
    dflat.performChanges([Post.self]) { txn in
      insert(Post.self, 1, txn)
    } completionHandler: {
      #expect($0)
      committed.signal()
    }
    wait(committed)
    #expect(dflat.fetch(for: Post.self).all().count == 1)
    dflat.shutdown()
  }

  @Test("Many types have one writing connection")
  func oneWriter() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/test.db"
    let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
    let done = DispatchGroup()
    for number in 0..<50 {
      done.enter()
      dflat.performChanges(Self.types[number % Self.types.count]) { txn in
        insert(Self.types[number % Self.types.count][0], number, txn)
      } completionHandler: { _ in
        done.leave()
      }
    }
    done.expect("the end")
    #if os(Linux)
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
      }
      #expect(open.count == 1)
    #endif
    dflat.shutdown()
  }
}
