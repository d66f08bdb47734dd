// Random conditions on the elements of vectors, and random calls of functions.

import Dflat

/// Whether one of these is true, in three-valued logic.
func any(_ results: [Bool?]) -> Bool? {
  results.contains(true) ? true : results.contains { $0 == nil } ? nil : false
}

/// Whether all of these are true, in three-valued logic.
func all(_ results: [Bool?]) -> Bool? {
  any(results.map { $0.map { !$0 } }).map { !$0 }
}

private func both(_ left: Bool?, _ right: Bool?) -> Bool? { all([left, right]) }

func same(_ left: String?, _ right: String?) -> Bool? {
  left.flatMap { left in right.map { Array(left.utf8) == Array($0.utf8) } }
}

extension Kit.Item {
  /// A random condition on the elements of a vector.
  static func vectorTest(_ random: inout SeededGenerator) -> Term<Bool, Kit.Item> {
    typealias Item = Kit.Item
    let text = random.pick(Pool.strings)
    let number = random.pick(Pool.integers(Int64.self))
    let rank = random.pick(Pool.integers(UInt64.self))
    let isAny = random.oneIn(2)
    let name = isAny ? "any" : "all"
    let quantified = isAny ? any : all
    switch Int.random(in: 0..<15, using: &random) {
    case 0:
      return Term(
        Item.tags.contains(text), "tags.contains(\(text))",
        { $0.tags.contains { same($0, text) == true } })
    case 1:
      let count = random.pick([0, 1, 2, 3])
      return Term(Item.tags.count == count, "tags.count == \(count)", { $0.tags.count == count })
    case 2:
      return Term(
        isAny ? Item.tags.any { $0.hasPrefix(text) } : Item.tags.all { $0.hasPrefix(text) },
        "tags.\(name)(hasPrefix \(text))",
        { quantified($0.tags.map { $0.unicodeScalars.starts(with: text.unicodeScalars) }) })
    case 3:
      return Term(
        isAny ? Item.numbers.any { $0 > number } : Item.numbers.all { $0 > number },
        "numbers.\(name)(> \(number))", { quantified($0.numbers.map { $0 > number }) })
    case 4:
      // An element and a field of the object.
      return Term(
        isAny
          ? Item.numbers.any { $0 <= Item.plainLong } : Item.numbers.all { $0 <= Item.plainLong },
        "numbers.\(name)(<= plainLong)",
        { item in quantified(item.numbers.map { $0 <= item.plainLong }) })
    case 5:
      return Term(
        isAny
          ? Item.leaves.any { $0.rank >= rank && $0.label != text }
          : Item.leaves.all { $0.rank >= rank && $0.label != text },
        "leaves.\(name)(rank >= \(rank) && label != \(text))",
        { item in
          quantified(
            item.leaves.map { both($0.rank >= rank, same($0.label, text).map { !$0 }) })
        })
    case 6:
      return Term(
        isAny
          ? Item.leaves.any { $0.label == Item.title } : Item.leaves.all { $0.label == Item.title },
        "leaves.\(name)(label == title)",
        { item in quantified(item.leaves.map { same($0.label, item.title) }) })
    case 7:
      // Elements of two vectors, and the field of the object with the same name as the element's.
      return Term(
        isAny
          ? Item.leaves.any { leaf in Item.tags.any { $0 == leaf.label } }
          : Item.leaves.all { leaf in Item.tags.any { $0 == leaf.label } },
        "leaves.\(name)(tags.any(== label))",
        { item in
          quantified(item.leaves.map { leaf in any(item.tags.map { same($0, leaf.label) }) })
        })
    case 8:
      return Term(
        Item.leaves.any { leaf in Item.leaves.any { $0.rank > leaf.rank } },
        "leaves.any(leaves.any(rank > rank))",
        { item in any(item.leaves.map { leaf in any(item.leaves.map { $0.rank > leaf.rank }) }) })
    case 9:
      return Term(
        isAny
          ? Item.leaves.any { $0.label.isNull || $0.weight > 1 }
          : Item.leaves.all { $0.label.isNull || $0.weight > 1 },
        "leaves.\(name)(label.isNull || weight > 1)",
        { item in
          quantified(
            item.leaves.map { leaf in
              any([leaf.label == nil, leaf.weight.isNaN ? nil : leaf.weight > 1])
            })
        })
    case 10:
      return Term(
        isAny
          ? Item.tags.any { $0.caseInsensitive == text }
          : Item.tags.all { $0.caseInsensitive == text },
        "tags.\(name)(caseInsensitive == \(text))",
        { quantified($0.tags.map { same(fold($0), fold(text)) }) })
    case 11:
      // Structs have their fields in the vector itself.
      let x = random.pick(Pool.singles)
      return Term(
        isAny ? Item.points.any { $0.x > x } : Item.points.all { $0.x > x },
        "points.\(name)(x > \(x))",
        { quantified($0.points.map { $0.x.isNaN || x.isNaN ? nil : $0.x > x }) })
    case 12:
      let y = random.pick(Pool.reals)
      return Term(
        isAny
          ? Item.points.any { $0.y <= y || $0.y == Item.plainReal }
          : Item.points.all { $0.y <= y || $0.y == Item.plainReal },
        "points.\(name)(y <= \(y) || y == plainReal)",
        { item in
          func known(_ left: Double, _ right: Double, _ result: Bool) -> Bool? {
            left.isNaN || right.isNaN ? nil : result
          }
          return quantified(
            item.points.map {
              any([
                known($0.y, y, $0.y <= y), known($0.y, item.plainReal, $0.y == item.plainReal),
              ])
            })
        })
    case 13:
      return Term(
        Item.points.count == Item.tags.count, "points.count == tags.count",
        { $0.points.count == $0.tags.count })
    default:
      return Term(
        Item.leaves.count > Item.number, "leaves.count > number",
        { $0.leaves.count > Int($0.number) })
    }
  }

  // MARK: Functions

  private static let isEven = Function("isEven") { (text: String) in text.utf8.count % 2 == 0 }
  private static let label = Function("label") { (text: String?, flag: Bool?) in
    (text ?? "none") + (flag == true ? "!" : "")
  }
  private static let halved = Function("halved") { (number: Int32, by: Int64) -> Int32? in
    number % 2 == 0 && by != 0 ? number / 2 : nil
  }
  private static let ratio = Function("ratio") { (left: UInt64, right: Double) in
    Double(left) / right
  }

  static var calls: [Term<Bool, Kit.Item>] {
    [
      Term(isEven(Kit.Item.title), "isEven(title)", { $0.title.map { $0.utf8.count % 2 == 0 } }),
      Term(
        isEven(Kit.Item.name.caseInsensitive), "isEven(name folded)",
        { fold($0.name).utf8.count % 2 == 0 }),
    ]
  }

  static var textCalls: [Term<String, Kit.Item>] {
    [
      Term(
        label(Kit.Item.title, Kit.Item.maybeFlag), "label(title, maybeFlag)",
        { ($0.title ?? "none") + ($0.maybeFlag == true ? "!" : "") }),
      Term(label(Kit.Item.word, true), "label(word, true)", { $0.word + "!" }),
      Term(Kit.Item.title, "title", { $0.title }),
    ]
  }

  static var numberCalls: [Term<Int32, Kit.Item>] {
    [
      Term(
        halved(Kit.Item.maybeNumber, Kit.Item.longNumber), "halved(maybeNumber, longNumber)",
        { item in
          item.maybeNumber.flatMap { $0 % 2 == 0 && item.longNumber != 0 ? $0 / 2 : nil }
        }),
      Term(halved(6, Kit.Item.plainLong), "halved(6, plainLong)", { $0.plainLong != 0 ? 3 : nil }),
    ]
  }

  static var realCalls: [Term<Double, Kit.Item>] {
    [
      Term(
        ratio(Kit.Item.big, Kit.Item.real), "ratio(big, real)",
        { $0.real.isNaN ? nil : Kind.known(Double($0.big) / $0.real) })
    ]
  }
}
