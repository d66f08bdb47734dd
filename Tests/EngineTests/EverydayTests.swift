// Fields whose Swift type differs from the stored type: conditions, keys, indexes and orders in
// every state of the indexes.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import Testing

@Suite("Fields with their own Swift types")
struct EverydayTests {
  @Test("are read back as they were stored", arguments: TestEngine.all)
  func roundTrip(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      let orders = workspace.dflat.fetch(for: Order.self).all(orderBy: [Order.number.ascending])
      #expect(orders.count == 10)
      for (number, order) in orders.enumerated() {
        let original = Orders.order(number)
        #expect(order == original)
        #expect(order.id == Orders.id(number) && order.number == number)
        #expect(order.created == Orders.noon + Double(number) / 4)
        #expect(order.changed == (number % 2 == 1 ? nil : Orders.noon + Double(number)))
        #expect(order.seen == Orders.noon - Double(number) / 8)
        #expect(order.took == .milliseconds(number * 1500))
        #expect(order.total == (number % 2 == 1 ? nil : Decimal(number) / 4))
        #expect(order.totalBytes == number << 40 && order.count == number * 20)
        #expect(order.picture == Data([1, 2, UInt8(number)]))
        #expect(order.sizes == (number % 2 == 1 ? [] : [number, -number]))
        #expect(order.links.count == (number % 2 == 1 ? 0 : 2))
        #expect(order.visit.at == Orders.noon + Double(number) && order.visit.count == -number)
        #expect(order.customer.visits == original.customer.visits)
        #expect(order.fieldProblems.isEmpty)
      }
    }
  }

  @Test("order results by their stored values", arguments: TestEngine.all)
  func orders(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      func numbers(_ order: OrderBy<Order>...) -> [Int] {
        workspace.dflat.fetch(for: Order.self).all(orderBy: order).map(\.number)
      }
      let upwards = Array(0..<10)
      #expect(numbers(Order.created.descending) == upwards.reversed())
      #expect(numbers(Order.seen.ascending) == upwards.reversed())
      #expect(numbers(Order.took.ascending) == upwards)
      #expect(numbers(Order.price.descending, Order.number.ascending) == upwards.reversed())
      #expect(numbers(Order.count.ascending) == upwards)
      #expect(numbers(Order.id.descending) == upwards.reversed())
      #expect(numbers(Order.visit.at.ascending) == upwards)
      let positions = [100, 1 << 50, 40, -1, 60]
      #expect(numbers(positions.firstIndex(of: Order.count)).suffix(3) == [5, 2, 3])
    }
  }

  @Test("are observed by their stored values", arguments: TestEngine.all)
  func observation(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      let late = workspace.dflat.fetch(for: Order.self)
        .where(Order.created > Orders.noon + 1 && Order.count <= 1 << 40)
      let updates = Mutex<[[Int]]>([])
      let subscription = workspace.dflat.subscribe(fetchedResult: late) { result in
        updates.withLock { $0.append(result.map(\.number).sorted()) }
      }
      try workspace.write([Order.self]) { txn in
        let request = try #require(
          Shop.OrderChangeRequest.changeRequest(Orders.order(0)))
        request.created = Orders.noon + 100
        try txn.submit(request)
      }
      try workspace.write([Order.self]) { txn in
        let request = try #require(
          Shop.OrderChangeRequest.deletionRequest(Orders.order(9)))
        try txn.submit(request)
      }
      subscription.cancel()
      #expect(updates.withLock { $0 } == [[0, 5, 6, 7, 8, 9], [0, 5, 6, 7, 8]])
    }
  }

  /// A condition, and a predicate that says which objects match it.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let condition: Condition<Order>
    let matches: @Sendable (Int) -> Bool

    init(
      _ name: String, _ condition: Condition<Order>, _ matches: @escaping @Sendable (Int) -> Bool
    ) {
      testDescription = name
      self.condition = condition
      self.matches = matches
    }
  }

  static let cases: [Case] = [
    Case("date", Order.created > Orders.noon + 1) { $0 > 4 },
    Case("date equal", Order.created == Orders.noon + 0.25) { $0 == 1 },
    Case("date is what would be stored", Order.created == Orders.noon + 0.2500001) { $0 == 1 },
    Case("optional date", Order.changed <= Orders.noon + 4) { $0 % 2 == 0 && $0 <= 4 },
    Case("optional date is absent", Order.changed.isNull) { $0 % 2 == 1 },
    Case("real date", Order.seen < Orders.noon - 1) { $0 > 8 },
    Case("real date is there", Order.seen.isNotNull) { _ in true },
    Case("date in values", Order.seen.in([Orders.noon, Orders.noon - 0.25])) { $0 == 0 || $0 == 2 },
    Case("date that is nothing", Order.created == Date(timeIntervalSince1970: .nan)) { _ in false },
    Case("not that", !(Order.created == Date(timeIntervalSince1970: .nan))) { _ in false },
    Case("date beyond all", Order.created < .init(timeIntervalSince1970: 1e300)) { _ in true },
    Case("dates of one unit", Order.created <= Order.created) { _ in true },
    Case("duration", Order.took >= .seconds(3)) { $0 >= 2 },
    Case("duration beyond all", Order.took > .seconds(Int64.min)) { _ in true },
    Case("URL", Order.site == URL(string: "https://example.com/2")!) { $0 == 2 },
    Case("no URL", Order.site != URL(string: "https://example.com/2")!) { $0 % 2 == 0 && $0 != 2 },
    Case("decimal", Order.total == Decimal(string: "1.50")!) { $0 == 6 },
    Case("own type", Order.price > Price(stored: 450)) { $0 > 4 },
    Case("own type without order", Order.code == .small) { $0 < 5 },
    Case("integer", Order.count > 100) { $0 > 5 },
    Case("integer beyond all", Order.count < 1 << 40) { _ in true },
    Case("integer above none", Order.count > 1 << 40) { _ in false },
    Case("not above", !(Order.count > 1 << 40)) { _ in true },
    Case("integer below all", Order.count >= -1) { _ in true },
    Case("integer equal to none", Order.count == -1) { _ in false },
    Case("integer different from all", Order.count != 256) { _ in true },
    Case("integers", Order.count.in([20, 256, -1, 40])) { $0 == 1 || $0 == 2 },
    Case("integers without", Order.count.notIn([20, 256, -1, 40])) { $0 != 1 && $0 != 2 },
    Case("sum", Order.count + 1000 > 1100) { $0 > 5 },
    Case("fields of two widths", Order.count > Order.number + 60) { 19 * $0 > 60 },
    Case("wide integer", Order.totalBytes > 5 << 40) { $0 > 5 },
    Case("wide integer below all", Order.totalBytes > -1) { _ in true },
    Case("wide sum", Order.totalBytes + 1 > 5 << 40) { $0 >= 5 },
    Case("wide sum below all", Order.totalBytes + -1 > 0) { _ in false },
    Case("key", Order.id == Orders.id(3)) { $0 == 3 },
    Case("keys", Order.id.in([Orders.id(3), Orders.id(4)]) && Order.number > 3) { $0 == 4 },
    Case("key beyond all", Order.number == 1 << 40) { _ in false },
    Case("in a struct", Order.visit.at >= Orders.noon + 8) { $0 >= 8 },
    Case("integer in a struct", Order.visit.count < -7) { $0 > 7 },
    Case("in a table", Order.customer.born == Orders.noon - 100) { _ in true },
    Case("in a table, text", Order.customer.site == URL(string: "c:7")!) { $0 == 7 },
    Case("in a union", Order.subject.as(Shop.URLNote.self).page > 3) { $0 > 3 && $0 % 2 == 0 },
    Case("required string", Order.title == "") { $0 == 0 },
  ]

  @Test("are compared the same way whatever is indexed", arguments: TestEngine.inEveryIndexState)
  func conditions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      var random = SeededGenerator(seed: 14)
      try workspace.disturbIndexes(of: Order._schema, using: &random)
      for test in Self.cases {
        let found = workspace.dflat.fetch(for: Order.self).where(test.condition)
        let expected = (0..<10).filter(test.matches)
        #expect(found.map(\.number).sorted() == expected, "\(test.testDescription)")
      }
    }
  }

  @Test("are explained with their Swift values", arguments: TestEngine.all)
  func explanation(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      let noon = Orders.noon
      let conditions: [(Condition<Order>, String)] = [
        (
          Order.seen > noon && Order.title != "a",
          "seen > 2023-11-14 22:13:20 +0000 && title != \"a\""
        ),
        (
          Order.changed.in([noon]) && Order.is_old,
          "changed.in([2023-11-14 22:13:20 +0000]) && __old_name"
        ),
        (
          Order.visit.seconds < .seconds(2) && Order.is_old,
          "visit.seconds < 2.0 seconds && __old_name"
        ),
        (Order.total == 2.5 && Order.totalBytes > 7, "total == \"2.5\" && total_bytes > 7"),
      ]
      for (condition, text) in conditions {
        let explanation = try workspace.dflat.fetch(for: Order.self).explain(where: condition)
        #expect(explanation.rowByRow == text)
      }
    }
  }
}
