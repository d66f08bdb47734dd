// What fields with their own Swift types, and required ones, write; which values they reject; how
// they read rows that other programs wrote.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import Testing

@Suite("Writing fields with their own Swift types")
struct EverydayWriteTests {
  /// The error message of a submit after `change`; nil if the object is stored.
  private func refusal(
    _ workspace: TemporaryWorkspace, _ change: @escaping (Shop.OrderChangeRequest) -> Void
  ) throws -> String? {
    let outcome = try workspace.write([Order.self]) { txn -> String? in
      let request = try #require(Shop.OrderChangeRequest.changeRequest(Orders.order(1)))
      change(request)
      do { try txn.submit(request) } catch let error as StorageError {
        #expect(error.cause == .invalidValue)
        // The transaction continues, and the request can be corrected.
        request.count = 7
        request.changed = nil
        request.took = .zero
        request.visit.count = 0
        request.customer.visits = []
        request.subject = .text("u")
        request.sizes = []
        try txn.submit(request)
        return error.message
      }
      return nil
    }
    #expect(outcome.isCommitted)
    return outcome.result ?? nil
  }

  @Test(
    "A value that does not fit is rejected with its field's name, and nothing is lost",
    arguments: TestEngine.all)
  func refusals(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      #expect(
        try refusal(workspace) { $0.count = 256 }
          == "the object cannot be stored: count is 256, which a field of type UInt8 cannot hold")
      #expect(try refusal(workspace) { $0.count = -1 } != nil)
      #expect(try refusal(workspace) { $0.changed = Date(timeIntervalSince1970: 1e15) } != nil)
      #expect(try refusal(workspace) { $0.took = .seconds(Int64.max) } != nil)
      #expect(try refusal(workspace) { $0.visit.count = 1 << 15 }?.contains("count") == true)
      #expect(try refusal(workspace) { $0.sizes = [1, 1 << 15] }?.contains("sizes") == true)
      #expect(
        try refusal(workspace) {
          $0.customer.visits = [Shop.Visit(at: .init(timeIntervalSince1970: .nan))]
        } != nil)
      #expect(
        try refusal(workspace) { $0.subject = nil }
          == "the object cannot be stored: subject is nil, and the schema requires it")
      #expect(try refusal(workspace) { $0.count = 255 } == nil)
      let stored = workspace.dflat.fetch(for: Order.self).where(Order.number == 1)
      #expect(stored.map(\.count) == [255] && stored.map(\.subject) == [.text("u")])
    }
  }

  @Test(
    "Objects are found by keys of such types, and not by a value that a key cannot hold",
    arguments: TestEngine.all)
  func keys(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      let dflat = workspace.dflat
      #expect(dflat.find(Order.self, (Orders.id(3), 3))?.title == "order 3")
      #expect(dflat.find(Order.self, Orders.order(4).id)?.number == 4)
      #expect(dflat.find(Order.self, (Orders.id(3), 1 << 40)) == nil)
      let title = try await dflat.read { context in
        try context.find(Order.self, (id: Orders.id(2), number: 2))?.title
      }
      #expect(title == "order 2")
    }
  }

  @Test("A changed copy remembers that a value does not fit", arguments: TestEngine.all)
  func copies(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let refused = [
        Orders.order(1).with { $0.count = 256 },
        Orders.order(1).with { $0.count = 256 }.with { $0.title = "other" },
      ]
      for object in refused {
        await #expect(throws: StorageError.self) {
          try await workspace.dflat.write(Order.self) { try $0.insert(object) }
        }
      }
    }
  }

  @Test(
    "Objects that were made with values that do not fit are not stored", arguments: TestEngine.all,
    [false, true])
  func refusedObjects(engine: TestEngine, isUpsert: Bool) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      var builder = Shop.OrderBuilder(from: Orders.order(1))
      builder.count = 300
      let object = builder.build()
      await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Order.self) { txn in
          if isUpsert { try txn.upsert(object) } else { try txn.insert(object) }
        }
      }
      let outcome = try workspace.write([Order.self]) { txn in
        _ = try? txn.submit(
          isUpsert
            ? Shop.OrderChangeRequest.upsertRequest(object)
            : Shop.OrderChangeRequest.creationRequest(object))
      }
      #expect(outcome.isCommitted)
      let counts = workspace.dflat.fetch(for: Order.self).where(Order.number == 1).map(\.count)
      #expect(counts == [20])
    }
  }
}
