// What a plan asks of an engine is no more than the engine says that it can do.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Plans and capabilities")
struct PlanCapabilityTests {
  private func plan(
    _ condition: Condition<Post>, _ order: [OrderBy<Post>] = [],
    _ change: (inout QueryCapabilities) -> Void = { _ in }
  ) -> Plan {
    var capabilities = QueryCapabilities()
    change(&capabilities)
    let query = Query(
      schema: Post._schema, condition: condition._node, order: order.map(\.term), limit: 3)
    return Plan(query, capabilities) { _ in true }
  }

  @Test("An engine that can do everything gets the condition and the order")
  func all() {
    let plan = plan(Post.likes > 5, [Post.likes.descending])
    #expect(plan.predicate != nil && plan.residual == nil && plan.isOrderedByEngine)
  }

  @Test("What an inexact engine finds is evaluated again")
  func inexact() {
    let plan = plan(Post.likes > 5) { $0.isExact = false }
    #expect(plan.predicate != nil && plan.residual != nil)
  }

  @Test("An engine that delivers no order is not asked for one")
  func order() {
    let ordered = plan(Post.likes > 5, [Post.likes.descending]) { $0.canOrder = false }
    #expect(!ordered.isOrderedByEngine)
  }

  @Test("A predicate beyond the size or depth that an engine answers is evaluated on rows")
  func bounds() {
    let values = Post.likes.in([1, 2, 3])
    #expect(plan(values) { $0.maximumPredicateSize = 3 }.predicate != nil)
    #expect(plan(values) { $0.maximumPredicateSize = 2 }.predicate == nil)
    let both = Post.likes > 1 && Post.number < 5
    #expect(plan(both) { $0.maximumPredicateDepth = 1 }.predicate != nil)
    let flat = plan(both) { $0.maximumPredicateDepth = 0 }
    #expect(flat.predicate == nil && flat.residual != nil)
  }

  @Test("Unsigned numbers are ordered by engines that know their order only")
  func unsigned() {
    func isOrdered(_ ordersUnsigned: Bool) -> Bool {
      let query = Query(schema: Note._schema, order: [Note.key.ascending.term], limit: 1)
      return Plan(query, QueryCapabilities(ordersUnsigned: ordersUnsigned)) { _ in true }
        .isOrderedByEngine
    }
    #expect(isOrdered(true) && !isOrdered(false))
  }
}
