// Random objects of the test schema `Item`, and the table of its fields.

import Dflat

/// Values that tend to break things, few enough that objects and conditions often have the same
/// one.
enum Pool {
  static let strings = [
    "", "a", "b", "A", "ab", "é", "e\u{301}", "a\0", "a\0b", "plain", "ß", "日本", "\u{10FFFF}", "zz",
    "É", "aB", "İ", "100%", "a_b",
  ]
  static let reals: [Double] = [
    0, -0.0, 1, 1.5, -1.5, 0.1, 1e300, -.infinity, .infinity, .nan, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude, 9_007_199_254_740_992,
  ]
  static let singles: [Float] = [
    0, -0.0, 1, 1.5, -1.5, 0.1, 1e30, -.infinity, .infinity, .nan, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude, 16_777_216,
  ]

  static func integers<T: FixedWidthInteger>(_ type: T.Type) -> [T] {
    let small: [T] = [0, 1, 2, 3, 5, 7]
    let edges: [T] = [.min, .max, .max - 1, .max / 2, .max / 2 + 1]
    return small + edges + (T.isSigned ? [0 - 1, 0 - 3, .min + 1] : [])
  }
}

/// Generates random objects.
public enum RandomItems {
  /// A new object with a random key.
  public static func item(_ random: inout SeededGenerator) -> Kit.Item {
    var builder = Kit.ItemBuilder(
      from: Kit.Item(
        name: random.pick(Pool.strings), serial: random.pick(Pool.integers(UInt64.self))))
    fill(&builder, &random)
    return builder.build()
  }

  /// Random values for about half of the fields that are not part of the key.
  public static func fill(_ b: inout Kit.ItemBuilder, _ random: inout SeededGenerator) {
    func change<T>(_ field: inout T, _ value: @autoclosure () -> T) {
      if random.oneIn(2) { field = value() }
    }
    func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
      random.pick(Pool.integers(T.self))
    }
    change(&b.flag, random.oneIn(2))
    change(&b.tiny, integer())
    change(&b.small, integer())
    change(&b.shortNumber, integer())
    change(&b.port, integer())
    change(&b.number, integer())
    change(&b.count, integer())
    change(&b.longNumber, integer())
    change(&b.big, integer())
    change(&b.single, random.pick(Pool.singles))
    change(&b.real, random.pick(Pool.reals))
    change(&b.plainFlag, random.oneIn(2))
    change(&b.plainNumber, integer())
    change(&b.plainBig, integer())
    change(&b.plainLong, integer())
    change(&b.plainReal, random.pick(Pool.reals))
    change(&b.plainTitle, random.oneIn(4) ? nil : random.pick(Pool.strings))
    change(&b.maybeFlag, random.oneIn(3) ? nil : random.oneIn(2))
    change(&b.maybeNumber, random.oneIn(3) ? nil : integer())
    change(&b.maybeBig, random.oneIn(3) ? nil : integer())
    change(&b.maybeReal, random.oneIn(3) ? nil : random.pick(Pool.reals))
    change(&b.mood, random.pick(Kit.Mood.allCases))
    change(&b.maybeMood, random.oneIn(3) ? nil : random.pick(Kit.Mood.allCases))
    change(&b.wide, random.pick(Kit.Wide.allCases))
    change(&b.traits, Kit.Trait(rawValue: integer()))
    change(&b.title, random.oneIn(4) ? nil : random.pick(Pool.strings))
    change(&b.word, random.pick(Pool.strings))
    change(&b.badge, random.oneIn(2) ? nil : "\(Int.random(in: 0..<200, using: &random))")
    change(&b.point, random.oneIn(4) ? nil : point(&random))
    change(
      &b.box,
      random.oneIn(4)
        ? nil
        : Kit.Box(
          corner: point(&random), depth: integer(), mood: random.pick(Kit.Mood.allCases),
          big: integer()))
    change(&b.branch, random.oneIn(4) ? nil : branch(&random))
    change(&b.pet, pet(&random))
    change(&b.tags, (0..<random.pick([0, 1, 3])).map { _ in random.pick(Pool.strings) })
    change(&b.numbers, (0..<random.pick([0, 1, 3])).map { _ in integer() })
    change(&b.leaves, (0..<random.pick([0, 1, 3])).map { _ in leaf(&random) })
    change(&b.points, (0..<random.pick([0, 1, 3])).map { _ in point(&random) })
    change(&b.pets, (0..<random.pick([0, 1, 3])).compactMap { _ in pet(&random) })
  }

  private static func point(_ random: inout SeededGenerator) -> Kit.Point {
    Kit.Point(x: random.pick(Pool.singles), y: random.pick(Pool.reals))
  }

  private static func leaf(_ random: inout SeededGenerator) -> Kit.Leaf {
    Kit.Leaf(
      label: random.oneIn(3) ? nil : random.pick(Pool.strings), weight: random.pick(Pool.reals),
      rank: random.pick(Pool.integers(UInt64.self)))
  }

  private static func branch(_ random: inout SeededGenerator) -> Kit.Branch {
    Kit.Branch(
      leaf: random.oneIn(3) ? nil : leaf(&random),
      name: random.oneIn(3) ? nil : random.pick(Pool.strings),
      box: random.oneIn(2)
        ? nil : Kit.Box(corner: point(&random), big: random.pick(Pool.integers(UInt64.self))))
  }

  private static func pet(_ random: inout SeededGenerator) -> Kit.Pet? {
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      .cat(
        Kit.Cat(
          name: random.oneIn(2) ? nil : "\(Int.random(in: 0..<200, using: &random))",
          lives: random.pick(Pool.integers(UInt8.self)),
          leaf: random.oneIn(3) ? nil : leaf(&random)))
    case 2:
      .dog(
        Kit.Dog(
          name: random.oneIn(3) ? nil : random.pick(Pool.strings),
          age: random.oneIn(3) ? nil : random.pick(Pool.integers(Int32.self)),
          mood: random.pick(Kit.Mood.allCases)))
    case 3: .point(point(&random))
    case 4: .empty(Kit.Empty())
    default: nil
    }
  }
}

extension Kit.Item {
  fileprivate var cat: Kit.Cat? { if case .cat(let cat)? = pet { cat } else { nil } }
  fileprivate var dog: Kit.Dog? { if case .dog(let dog)? = pet { dog } else { nil } }

  fileprivate var petTag: Int32? {
    switch pet {
    case nil: nil
    case .cat?: 1
    case .dog?: 2
    case .point?: 3
    case .empty?: 4
    }
  }

  /// Random queries over every field that conditions can name.
  public static func randomQueries() -> RandomQueries<Kit.Item> {
    typealias Item = Kit.Item
    var queries = RandomQueries<Item>()
    queries.add(
      .string(Pool.strings + ["7", "42"]),
      [
        (Item.name, "name", { $0.name }), (Item.title, "title", { $0.title }),
        (Item.word, "word", { $0.word }), (Item.badge, "badge", { $0.badge }),
        (Item.plainTitle, "plainTitle", { $0.plainTitle }),
        (Item.branch.name, "branch.name", { $0.branch?.name }),
        (Item.branch.leaf.label, "branch.leaf.label", { $0.branch?.leaf?.label }),
        (Item.pet.as(Kit.Cat.self).name, "cat.name", { $0.cat?.name }),
        (Item.pet.as(Kit.Cat.self).leaf.label, "cat.leaf.label", { $0.cat?.leaf?.label }),
        (Item.pet.as(Kit.Dog.self).name, "dog.name", { $0.dog?.name }),
      ])
    let texts: [Term<String, Item>] = [
      Term(Item.name, "name", { $0.name }), Term(Item.title, "title", { $0.title }),
      Term(Item.word, "word", { $0.word }), Term(Item.badge, "badge", { $0.badge }),
      Term(Item.plainTitle, "plainTitle", { $0.plainTitle }),
      Term(Item.branch.leaf.label, "branch.leaf.label", { $0.branch?.leaf?.label }),
      Term(Item.pet.as(Kit.Cat.self).name, "cat.name", { $0.cat?.name }),
    ]
    queries.addTests(texts)
    queries.add(.folded(Pool.strings), texts.map(\.folded))
    queries.add(mixed)
    queries.add(Item.vectorTest)
    queries.add(Item.unionVectorTest)
    queries.add(Item.calls)
    queries.add(.string(Pool.strings), Item.textCalls)
    queries.add(.signed(Pool.integers(Int32.self)), Item.numberCalls)
    queries.add(.real(Pool.reals), Item.realCalls)
    queries.add(
      .integer(Pool.integers(UInt64.self)),
      [
        (Item.serial, "serial", { $0.serial }), (Item.big, "big", { $0.big }),
        (Item.plainBig, "plainBig", { $0.plainBig }), (Item.maybeBig, "maybeBig", { $0.maybeBig }),
        (Item.box.big, "box.big", { $0.box?.big }),
        (Item.branch.leaf.rank, "branch.leaf.rank", { $0.branch?.leaf?.rank }),
        (Item.branch.box.big, "branch.box.big", { $0.branch?.box?.big }),
        (Item.pet.as(Kit.Cat.self).leaf.rank, "cat.leaf.rank", { $0.cat?.leaf?.rank }),
      ])
    queries.add(.signed(Pool.integers(Int8.self)), [(Item.tiny, "tiny", { $0.tiny })])
    queries.add(
      .integer(Pool.integers(UInt8.self)),
      [
        (Item.small, "small", { $0.small }),
        (Item.pet.as(Kit.Cat.self).lives, "cat.lives", { $0.cat?.lives }),
      ])
    queries.add(
      .signed(Pool.integers(Int16.self)),
      [
        (Item.shortNumber, "shortNumber", { $0.shortNumber }),
        (Item.box.depth, "box.depth", { $0.box?.depth }),
      ])
    queries.add(.integer(Pool.integers(UInt16.self)), [(Item.port, "port", { $0.port })])
    queries.add(
      .signed(Pool.integers(Int32.self)),
      [
        (Item.number, "number", { $0.number }),
        (Item.plainNumber, "plainNumber", { $0.plainNumber }),
        (Item.maybeNumber, "maybeNumber", { $0.maybeNumber }),
        (Item.pet._type, "pet._type", { $0.petTag }),
        (Item.pet.as(Kit.Dog.self).age, "dog.age", { $0.dog?.age }),
      ])
    queries.add(.integer(Pool.integers(UInt32.self)), [(Item.count, "count", { $0.count })])
    queries.add(
      .signed(Pool.integers(Int64.self)),
      [
        (Item.longNumber, "longNumber", { $0.longNumber }),
        (Item.plainLong, "plainLong", { $0.plainLong }),
      ])
    queries.add(
      .real(Pool.singles),
      [
        (Item.single, "single", { Kind.known($0.single) }),
        (Item.point.x, "point.x", { Kind.known($0.point?.x) }),
        (Item.box.corner.x, "box.corner.x", { Kind.known($0.box?.corner.x) }),
      ])
    queries.add(
      .real(Pool.reals),
      [
        (Item.real, "real", { Kind.known($0.real) }),
        (Item.plainReal, "plainReal", { Kind.known($0.plainReal) }),
        (Item.maybeReal, "maybeReal", { Kind.known($0.maybeReal) }),
        (Item.point.y, "point.y", { Kind.known($0.point?.y) }),
        (Item.branch.leaf.weight, "branch.leaf.weight", { Kind.known($0.branch?.leaf?.weight) }),
        (
          Item.branch.box.corner.y, "branch.box.corner.y",
          { Kind.known($0.branch?.box?.corner.y) }
        ),
      ])
    queries.add(
      .bool,
      [
        (Item.flag, "flag", { $0.flag }), (Item.plainFlag, "plainFlag", { $0.plainFlag }),
        (Item.maybeFlag, "maybeFlag", { $0.maybeFlag }),
      ])
    queries.add(
      .enumeration(Kit.Mood.allCases),
      [
        (Item.mood, "mood", { $0.mood }), (Item.maybeMood, "maybeMood", { $0.maybeMood }),
        (Item.box.mood, "box.mood", { $0.box?.mood }),
        (Item.pet.as(Kit.Dog.self).mood, "dog.mood", { $0.dog?.mood }),
      ])
    queries.add(.enumeration(Kit.Wide.allCases), [(Item.wide, "wide", { $0.wide })])
    queries.add(
      .enumeration([0, 1, 3, 6, 7, 255].map { Kit.Trait(rawValue: $0) }),
      [(Item.traits, "traits", { $0.traits })])
    queries.add([
      Term(Item.flag, "flag", { $0.flag }), Term(Item.plainFlag, "plainFlag", { $0.plainFlag }),
      Term(Item.maybeFlag, "maybeFlag", { $0.maybeFlag }),
    ])
    queries.add(presence + flags)
    return queries
  }

  /// Presence tests, which are never unknown, and their negations.
  private static var presence: [Term<Bool, Kit.Item>] {
    typealias Item = Kit.Item
    let cat = Item.pet.as(Kit.Cat.self)
    return [
      Term(Item.pet.match(Kit.Cat.self), "match(Cat)", { $0.petTag == 1 }),
      Term(Item.pet.match(Kit.Point.self), "match(Point)", { $0.petTag == 3 }),
      Term(Item.pet.match(Kit.Empty.self), "match(Empty)", { $0.petTag == 4 }),
      Term(!Item.pet.match(Kit.Cat.self), "!match(Cat)", { $0.petTag != 1 }),
      Term(!Item.pet.match(Kit.Dog.self), "!match(Dog)", { $0.petTag != 2 }),
      Term(Item.pet.isNull, "pet.isNull", { $0.pet == nil }),
      Term(Item.pet != nil, "pet != nil", { $0.pet != nil }),
      Term(Item.point == nil, "point == nil", { $0.point == nil }),
      Term(Item.box.corner.isNotNull, "box.corner.isNotNull", { $0.box != nil }),
      Term(nil != Item.branch, "nil != branch", { $0.branch != nil }),
      Term(Item.branch.leaf.isNull, "branch.leaf.isNull", { $0.branch?.leaf == nil }),
      Term(Item.branch.box != nil, "branch.box != nil", { $0.branch?.box != nil }),
      Term(cat.isNull, "cat.isNull", { $0.cat == nil }),
      Term(cat.leaf != nil, "cat.leaf != nil", { $0.cat?.leaf != nil }),
      Term(Item.title == nil, "title == nil", { $0.title == nil }),
      Term(Item.maybeMood != nil, "maybeMood != nil", { $0.maybeMood != nil }),
    ]
  }

  private static var mixed: [Term<Bool, Kit.Item>] {
    typealias Item = Kit.Item
    let number = Term<Int32, Item>(Item.number, "number", { $0.number })
    let big = Term<UInt64, Item>(Item.big, "big", { $0.big })
    let long = Term<Int64, Item>(Item.plainLong, "plainLong", { $0.plainLong })
    let tiny = Term<Int8, Item>(Item.tiny, "tiny", { $0.tiny })
    return mixedComparisons(number, big) + mixedComparisons(big, long)
      + mixedComparisons(long, number)
      + mixedComparisons(tiny, Term<UInt8, Item>(Item.small, "small", { $0.small }))
      + mixedComparisons(Term<UInt64, Item>(Item.serial, "serial", { $0.serial }), tiny)
  }

  private static var flags: [Term<Bool, Kit.Item>] {
    [[], .soft, [.soft, .fast], [.loud, .fast], Kit.Trait(rawValue: 0x88)].flatMap {
      (mask: Kit.Trait) -> [Term<Bool, Kit.Item>] in
      [
        Term(
          Kit.Item.traits.contains(mask), "traits.contains(\(mask))",
          { $0.traits.rawValue & mask.rawValue == mask.rawValue }),
        Term(
          Kit.Item.traits.intersects(mask), "traits.intersects(\(mask))",
          { $0.traits.rawValue & mask.rawValue != 0 }),
      ]
    }
  }
}
