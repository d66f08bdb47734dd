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

  @Test("What comparisons with the texts of a key find is evaluated again, and ordered in memory")
  func textKeys() {
    func plans(_ condition: Condition<Post>) -> [Plan] {
      [IndexAnswers.matches, .candidates].map { answers in
        plan(condition, [Post.site.ascending]) { $0.textKeys = answers }
      }
    }
    for condition in [Post.site < "s", Post.site.in(["a", "b"]), Post.site.hasPrefix("s")] {
      let plans = plans(condition)
      #expect(plans.allSatisfy { $0.predicate != nil })
      #expect(plans.map { $0.residual == nil } == [true, false])
      #expect(plans.map(\.isOrderedByEngine) == [true, false])
    }
    #expect(plans(Post.number < 5).allSatisfy { $0.residual == nil })
    for (answers, isCovered) in [(IndexAnswers.matches, true), (.candidates, false)] {
      let query = Query(schema: Post._schema, reading: Post._schema.primaryKey)
      #expect(
        Plan(query, QueryCapabilities(textKeys: answers)) { _ in true }.isCovered == isCovered)
    }
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

  // MARK: Compound indexes

  private func memoPlan(
    _ condition: (some QueryExpression<Bool, Desk.Memo>)?, _ order: [OrderBy<Desk.Memo>] = [],
    _ capabilities: QueryCapabilities = QueryCapabilities(), limit: Int? = nil,
    reading: [FieldDescriptor]? = nil, usable: Bool = true
  ) -> Plan {
    Plan(
      Query(
        schema: Desk.Memo._schema, condition: condition?._node, order: order.map(\.term),
        limit: limit, reading: reading), capabilities
    ) { _ in usable }
  }

  @Test("An engine without compound indexes gets no scan of one, nor does one that is not usable")
  func withoutCompoundIndexes() {
    let condition = Desk.Memo.archived && Desk.Memo.sortDate > 2
    #expect(memoPlan(condition).scan != nil && memoPlan(condition).residual == nil)
    let refused = memoPlan(condition, [], QueryCapabilities(usesCompoundIndexes: false))
    #expect(refused.scan == nil && refused.predicate == nil && refused.residual != nil)
    let unusable = memoPlan(condition, usable: false)
    #expect(unusable.scan == nil && unusable.residual != nil)
  }

  @Test("The order comes from the columns behind those with a fixed value, in one direction")
  func compoundOrder() {
    typealias Memo = Desk.Memo
    func ordered(_ condition: Condition<Memo>, _ order: [OrderBy<Memo>]) -> Int? {
      let plan = memoPlan(condition, order, limit: 3)
      return plan.isOrderedByEngine ? plan.scan?.orderedColumns : nil
    }
    let (archived, date) = (Memo.archived.ascending, Memo.sortDate.ascending)
    // Decided by no index.
    let known = Memo.number.isNotNull
    #expect(ordered(known, [archived, date]) == 2)
    #expect(ordered(!Memo.archived, [date]) == 2)
    #expect(ordered(!Memo.archived, [date, archived]) == 2)
    #expect(ordered(!Memo.archived, [archived]) == 0)
    #expect(ordered(known, [archived]) == 1)
    #expect(ordered(known, [date, archived]) == nil)
    #expect(ordered(known, [Memo.archived.descending, date]) == nil)
    #expect(ordered(known, [Memo.archived.descending, Memo.sortDate.descending]) == 2)
    #expect(ordered(Memo.archived.in([true, false]), [date]) == nil)
    // What an unknown value reads as has no place in the order.
    #expect(ordered(known, [Memo.state.ascending, archived]) == nil)
    // Unsigned numbers are ordered by engines that know their order only.
    #expect(ordered(known, [Memo.big.ascending, Memo.number.ascending]) == 2)
    let signed = memoPlan(
      known, [Memo.big.ascending, Memo.number.ascending],
      QueryCapabilities(ordersUnsigned: false), limit: 3)
    #expect(!signed.isOrderedByEngine)
  }

  @Test("An index covers what is decided by it and read from it")
  func covering() {
    typealias Memo = Desk.Memo
    let date = Memo.sortDate.descriptor
    #expect(memoPlan(Memo.archived, reading: [date]).covers([date]) == [1])
    let all: Condition<Memo>? = nil
    #expect(memoPlan(all, reading: [date, Memo.archived.descriptor]).isCovered)
    #expect(memoPlan(all, reading: [Memo.score.descriptor]).covers([Memo.score.descriptor]) == [0])
    #expect(!memoPlan(Memo.archived, reading: [Memo.title.descriptor]).isCovered)
    #expect(!memoPlan(Memo.archived && Memo.text == "x", reading: [date]).isCovered)
    // Folded text is not the field's value.
    let folded = Memo.title.caseInsensitive == "x"
    #expect(!memoPlan(folded, reading: [Memo.title.descriptor]).isCovered)
    // The order is missing.
    #expect(!memoPlan(Memo.archived, [Memo.title.ascending], reading: [date]).isCovered)
    #expect(!memoPlan(Memo.archived).isCovered)
  }
}
