// What keys and indexes have answered exactly is not checked on rows again.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("What is left to be checked on rows")
struct ResidualTests {
  private typealias Item = Kit.Item
  private typealias Memo = Desk.Memo
  private typealias Story = Tale.Story

  /// What is checked on rows, if all indexes may be used.
  private func rest<Element: Atom>(
    _ condition: Condition<Element>, _ change: (inout QueryCapabilities) -> Void = { _ in }
  ) -> String? {
    var capabilities = QueryCapabilities(fullText: .matches, elements: .matches)
    change(&capabilities)
    let query = Query(schema: Element._schema, condition: condition._node)
    return Plan(query, capabilities) { _ in true }.residual?.text(in: Element._schema)
  }

  private func text<Element: Atom>(_ condition: Condition<Element>) -> String {
    condition._node.text(in: Element._schema)
  }

  /// Conditions that keys and indexes of single fields answer exactly.
  private static let answered: [Condition<Item>] = [
    Item.number == 4, Item.number < 4, 4 <= Item.number, Item.number.between(1, 5),
    Item.number.in([1, 2, 3]), Item.real > 0.5, Item.big >= 3, Item.flag == true, !Item.flag,
    Item.flag != true, Item.maybeNumber.isNull, Item.maybeNumber == nil, Item.mood == .wild,
    Item.maybeMood.in([.calm, .odd]), Item.traits.contains(.loud), Item.title == "a",
    Item.title.hasPrefix("ab"), Item.title.like("ab%"), Item.name == "x", Item.serial > 3,
    Item.name.hasPrefix("x"), Item.pet.match(Kit.Cat.self), Item.branch.leaf.rank == 3,
    Item.pet.as(Kit.Cat.self).lives > 2, !(Item.number > 3), (Item.number > 3) == true,
    (Item.number > 3) == false, Item.number > 3 || Item.title == "a",
    !(Item.number > 3 && Item.real < 0.5), Item.number > 3 && Item.title == "a",
  ]

  /// Conditions that they do not answer, or only in part.
  private static let unanswered: [Condition<Item>] = [
    Item.plainNumber == 4, Item.number != 4, Item.number.isNotNull, Item.plainTitle.contains("x"),
    Item.title.hasSuffix("x"), Item.title.like("ab%c"), Item.title.hasPrefix("a\u{7F}"),
    Item.number > 3 || Item.plainNumber == 4, Item.number + 1 > 3,
  ]

  @Test("A conjunction is checked without the parts that an index has answered")
  func conjunctions() {
    for answered in Self.answered {
      #expect(rest(answered) == nil, "\(text(answered))")
      for unanswered in Self.unanswered {
        #expect(rest(answered && unanswered) == text(unanswered))
        #expect(rest(unanswered && answered) == text(unanswered))
        #expect(rest((unanswered && answered) == true) == text(unanswered))
      }
      let two = Self.unanswered[0] && Self.unanswered[3]
      #expect(rest(Self.unanswered[0] && answered && Self.unanswered[3]) == text(two))
      #expect(rest(!(!answered || Item.plainFlag)) == text(!Item.plainFlag))
    }
    // What no index narrows is checked as it was written.
    for unanswered in Self.unanswered {
      #expect(rest(unanswered) == text(unanswered))
      let both = !(Item.plainFlag || Item.plainNumber == 4)
      #expect(rest(both) == text(both))
    }
  }

  @Test("A row may be in a disjunction by any part, so all of it is checked")
  func disjunctions() {
    let either = Item.number > 3 || (Item.title == "a" && Item.plainFlag)
    #expect(rest(either) == text(either))
    #expect(rest(Item.serial == 1 && either) == text(either))
    #expect(
      rest(!(Item.number > 3 && Item.plainFlag)) == text(!(Item.number > 3 && Item.plainFlag)))
  }

  @Test("A compound index answers what is about its columns")
  func compound() {
    let both = Memo.archived == true && Memo.sortDate > 2
    #expect(rest(both && Memo.text == "x") == text(Memo.text == "x"))
    #expect(rest(Memo.text == "x" && both) == text(Memo.text == "x"))
    // An index may have no column for a part that another one has.
    let score = both && Memo.score == 3
    #expect(rest(score) == text(Memo.score == 3))
    #expect(
      rest(Memo.code.caseInsensitive == "x" && Memo.text == "x") == text(Memo.text == "x"))
  }

  @Test("A search that the full-text index answers is not made again")
  func searches() {
    let (search, year, note) = (Story.search("hello -wor*"), Story.year > 4, Story.note == "x")
    #expect(rest(search && year) == nil)
    #expect(rest(search && note) == text(note))
    #expect(rest(year && note && search) == text(note))
    #expect(rest(search && !Story.title.search("x")) == text(!Story.title.search("x")))
    // Where the index has candidates only, they are looked at.
    #expect(
      rest(search && year && note) { $0.fullText = .candidates } == text(search && note))
    #expect(rest(search && note) { $0.fullText = nil } == text(search && note))
  }

  @Test("What gives candidates only is checked, and nothing else")
  func candidates() {
    let key = Post.site.hasPrefix("s")
    #expect(rest(key && Post.likes > 5) { $0.textKeys = .candidates } == text(key))
    let all = Post.likes > 5 && Post.isPinned
    #expect(rest(all) == text(Condition<Post>(Post.isPinned._node)))
    #expect(rest(all) { $0.isExact = false } == text(all))
    #expect(rest(all) { $0.maximumPredicateSize = 0 } == text(all))
  }
}
