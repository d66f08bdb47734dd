// The meaning of conditions, checked through a workspace.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Conditions")
struct ExpressionTests {
  /// Whether a condition matches an object, with and without the index.
  private func holds(
    _ condition: Condition<Kit.Item>, _ change: @escaping (inout Kit.ItemBuilder) -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Bool {
    try withTemporaryFile(sourceLocation: sourceLocation) { workspace in
      var builder = Kit.ItemBuilder(from: Kit.Item(name: "n", serial: 1))
      change(&builder)
      let item = builder.build()
      try workspace.write([Kit.Item.self]) { txn in
        _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(item))
      }
      let withIndex = workspace.dflat.fetch(for: Kit.Item.self).where(condition).count
      var random = SeededGenerator(seed: 1)
      try IndexState.missing.impose(
        on: Kit.Item._schema, workspace.foreignConnection(), using: &random)
      let without = workspace.dflat.fetch(for: Kit.Item.self).where(condition).count
      #expect(withIndex == without, sourceLocation: sourceLocation)
      return without == 1
    }
  }

  @Test("Integer arithmetic that does not fit, and a remainder by zero, are unknown")
  func overflow() throws {
    #expect(try holds((Kit.Item.number + 1).isNull) { $0.number = .max })
    #expect(try !holds(Kit.Item.number + 1 > 0) { $0.number = .max })
    #expect(try !holds(!(Kit.Item.number + 1 > 0)) { $0.number = .max })
    #expect(try holds((Kit.Item.tiny - 1).isNull) { $0.tiny = .min })
    #expect(try holds((Kit.Item.big - 1).isNull) { $0.big = 0 })
    #expect(try holds(Kit.Item.big - 1 == .max - 1) { $0.big = .max })
    #expect(try holds((Kit.Item.big + 1).isNull) { $0.big = .max })
    #expect(try holds((Kit.Item.number % Kit.Item.plainNumber).isNull) { $0.number = 5 })
    #expect(try holds(Kit.Item.longNumber % -1 == 0) { $0.longNumber = .min })
    #expect(try holds(Kit.Item.number % 3 == -1) { $0.number = -7 })
    #expect(try holds((Kit.Item.port + Kit.Item.port).isNull) { $0.port = 40_000 })
  }

  @Test("NaN is unknown in conditions and orders; the object keeps it")
  func nan() throws {
    #expect(try holds(Kit.Item.real.isNull) { $0.real = .nan })
    #expect(try !holds(Kit.Item.real != 3) { $0.real = .nan })
    #expect(try !holds(Kit.Item.real == .nan) { $0.real = 3 })
    #expect(try !holds(Kit.Item.real.notIn([1])) { $0.real = .nan })
    #expect(try holds(Kit.Item.real.notIn([.nan]).isNull) { $0.real = 3 })
    #expect(try holds(Kit.Item.real.in([.nan, 3])) { $0.real = 3 })
    #expect(try holds((Kit.Item.real - Kit.Item.real).isNull) { $0.real = .infinity })
    #expect(Kit.Item(name: "", serial: 0, real: .nan).real.isNaN)
    #expect(Kit.Item(name: "", serial: 0, single: -0.0).single.sign == .minus)
  }

  @Test("in and notIn of an unknown operand are unknown, even for an empty list")
  func membership() throws {
    #expect(try !holds(Kit.Item.maybeNumber.in([])) { _ in })
    #expect(try !holds(Kit.Item.maybeNumber.notIn([])) { _ in })
    #expect(try holds(Kit.Item.maybeNumber.notIn([]).isNull) { _ in })
    #expect(try holds(Kit.Item.maybeNumber.notIn([])) { $0.maybeNumber = 1 })
    #expect(try !holds(Kit.Item.maybeNumber.in([])) { $0.maybeNumber = 1 })
    #expect(try holds(!Kit.Item.maybeNumber.in([])) { $0.maybeNumber = 1 })
  }

  @Test("Logic operators follow three-valued logic")
  func logic() throws {
    let unknown = Kit.Item.maybeNumber > 3
    #expect(try !holds(unknown) { _ in })
    #expect(try !holds(!unknown) { _ in })
    #expect(try holds(unknown.isNull) { _ in })
    #expect(try holds(unknown || true) { _ in })
    #expect(try holds(!(unknown && false)) { _ in })
    #expect(try holds((unknown || false).isNull) { _ in })
    #expect(try !holds(unknown == unknown) { _ in })
    #expect(try holds((Kit.Item.flag && Kit.Item.number == 3) == false) { $0.flag = false })
  }

  @Test("False is less than true, and no value is less than itself")
  func booleans() throws {
    #expect(try !holds(Kit.Item.flag < false) { $0.flag = false })
    #expect(try holds(Kit.Item.flag < true) { $0.flag = false })
    #expect(try !holds(Kit.Item.flag < true) { $0.flag = true })
    #expect(try holds(Kit.Item.flag >= true) { $0.flag = true })
  }

  @Test("A text equals the same bytes only; an absent one is unknown")
  func equalTexts() throws {
    #expect(try holds(Kit.Item.plainTitle == "ab") { $0.plainTitle = "ab" })
    #expect(try !holds(Kit.Item.plainTitle != "ab") { $0.plainTitle = "ab" })
    for other in ["", "a", "ac", "abc"] {
      #expect(try !holds(Kit.Item.plainTitle == "ab") { $0.plainTitle = other })
      #expect(try holds(Kit.Item.plainTitle != "ab") { $0.plainTitle = other })
    }
    #expect(try holds(Kit.Item.plainTitle == "") { $0.plainTitle = "" })
    #expect(try !holds(Kit.Item.plainTitle == "ab") { $0.plainTitle = nil })
    #expect(try !holds(Kit.Item.plainTitle != "ab") { $0.plainTitle = nil })
  }

  @Test("Strings compare by their bytes: normal forms, case and NUL")
  func strings() throws {
    #expect(try holds(Kit.Item.title == "e\u{301}") { $0.title = "e\u{301}" })
    #expect(try !holds(Kit.Item.title == "é") { $0.title = "e\u{301}" })
    #expect(try holds(Kit.Item.title < "é") { $0.title = "e\u{301}" })
    #expect(try holds(Kit.Item.title > "a") { $0.title = "a\0" })
    #expect(try !holds(Kit.Item.title.in(["a", "a\0\0"])) { $0.title = "a\0" })
    #expect(try holds(Kit.Item.title > "\u{FFFF}") { $0.title = "\u{10000}" })
  }

  @Test("Unsigned numbers compare over their whole range")
  func unsigned() throws {
    #expect(try holds(Kit.Item.big > 5) { $0.big = .max })
    #expect(try holds(Kit.Item.big > 1 << 63) { $0.big = .max })
    #expect(try !holds(Kit.Item.big < 1 << 63) { $0.big = .max })
    #expect(try holds(Kit.Item.big.in([.max])) { $0.big = .max })
    #expect(try holds(Kit.Item.count > .max - 1) { $0.count = .max })
    #expect(try holds(Kit.Item.wide > .small) { $0.wide = .huge })
  }

  @Test("Long conditions type-check")
  func tenComparisons() throws {
    let a: Int32 = 3
    let condition =
      Kit.Item.number > 1 && Kit.Item.count < 100 && Kit.Item.title == "a"
      || Kit.Item.flag && Kit.Item.number + 2 > 5 && Kit.Item.longNumber % 2 == 0
      || Kit.Item.plainNumber - 1 < a && Kit.Item.word != "b" && Kit.Item.mood == .calm
      || 3 <= Kit.Item.number && Kit.Item.number.in([1, 2, 3])
    #expect(try holds(condition) { $0.number = 3 })
  }

  @Test("Fields of a missing reference or of another union member are unknown")
  func references() throws {
    #expect(try holds(Kit.Item.branch.leaf.label.isNull) { _ in })
    #expect(try holds(Kit.Item.branch.leaf.rank.isNull) { $0.branch = Kit.Branch() })
    #expect(try holds(Kit.Item.branch.leaf.rank == 0) { $0.branch = Kit.Branch(leaf: Kit.Leaf()) })
    #expect(try holds(Kit.Item.pet.as(Kit.Cat.self).lives.isNull) { $0.pet = .empty(Kit.Empty()) })
    #expect(try holds(!Kit.Item.pet.match(Kit.Cat.self)) { _ in })
    #expect(try !holds(Kit.Item.pet.match(Kit.Cat.self).isNull) { _ in })
    #expect(try holds(Kit.Item.pet._type.isNull) { _ in })
    #expect(try !holds(Kit.Item.pet._type != 1) { _ in })
    #expect(try holds(!Kit.Item.pet.match(Kit.Cat.self)) { $0.pet = .point(Kit.Point()) })
    #expect(try holds(Kit.Item.pet.as(Kit.Point.self).y == 2) { $0.pet = .point(Kit.Point(y: 2)) })
  }
}
