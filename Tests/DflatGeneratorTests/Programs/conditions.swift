// Long conditions, of every type and form that the manual shows. The test limits what the compiler may spend on each.

import Dflat
import Foundation

typealias I = Long.Item

func comparisons() -> Condition<I> {
  I.number > 1 && I.count < 100 && I.title == "a" && I.longNumber >= -5 && I.big <= 7 && I.tiny != 3
    && I.small == 200 && I.port > 80 && I.real < 1.5 && I.single > 2 && I.mood == .calm
    && I.wide > .small
}

func remainders() -> Condition<I> {
  (I.number + 1) % 2 == 0 && (I.otherNumber + 1) % 3 == 0
    || (I.number - 4) % 5 == 1
      && (I.longNumber - 4) % 5 == 1
    || (I.shortNumber + 1) % 2 == 0 && (I.tiny + 1) % 3 == 0
    || (I.port - 4) % 5 == 1 && (I.longNumber - 4) % 5 == 1
    || (I.big + 7) % 11 != 10
      && !((I.count + 1) % 2 == 0)
}

func sumsOfFields() -> Condition<I> {
  I.number + I.otherNumber > 3 && I.number - I.otherNumber < 10
    || I.real + I.real - 2.5 > 3
      && (I.number + I.otherNumber - 3) % (I.otherNumber + 1) < I.number - 5
    || I.big % 3 == I.big - 1 && I.single - 1 > 0.5
    || I.maybeNumber + 1 == I.number % 7
      && I.branch.maybe % 2 == I.number
    || I.longNumber + 1 + 2 + 3 > I.longNumber - 1 - 2
}

func products(_ a: Int32) -> Condition<I> {
  I.number * 2 > 3 && I.number * I.otherNumber + 1 < 100 && -I.number > -5
    || abs(I.otherNumber - 4) <= 3
      && I.real / 2.5 > 1 && 100 / I.number == a
    || (I.longNumber + 1) * 2 / 3 % 5 == 1 && -(I.single * 2) < 0.5 && abs(-I.real) < 2
}

func widths() -> Condition<I> {
  I.number == I.longNumber && I.big > I.number + 1 && I.tiny < I.small
    || I.count >= I.otherNumber * 2
      && I.number != I.longNumber % 5
}

func texts(_ s: String, _ part: Substring) -> Condition<I> {
  I.title.hasPrefix("ab") && I.word.hasSuffix(s) && I.title.contains(part)
    || !I.word.like("a%_b") && I.title.like("100!%", escape: "!")
      && I.title.caseInsensitive == "ab" && I.word.caseInsensitive < I.title
    || I.number.between(1, 5)
      && I.real.between(0.5...2.5) && I.title.caseInsensitive.in(["a", "b"])
}

func vectors(_ s: String) -> Condition<I> {
  I.tags.contains("x") && I.tags.count > 3 && I.numbers.any { $0 > 3 }
    || I.leaves.any { $0.rank > 3 && $0.label == "a" && $0.weight < 2.5 }
      && I.moods.all { $0 == .calm || $0 > .gloomy }
    || I.points.any { $0.x > 1 && $0.y < 2 }
      && I.leaves.all { leaf in I.tags.any { $0 == leaf.label && $0 != s } }
    || I.tags == nil && I.flag || nil != I.leaves && I.pets != nil
}

func unions(_ s: String) -> Condition<I> {
  I.pets.count > 1 && I.pets.contains(Long.Cat.self)
    || I.pets.any {
      $0.match(Long.Dog.self) && $0.as(Long.Dog.self).age > 3 || $0.as(String.self) == s
    }
      && I.pets.all { !$0.match(Long.Point.self) || $0.as(Long.Point.self).x > 1 && I.real < 2 }
    || I.pets.any { pet in I.tags.any { $0 == pet.as(Long.Cat.self).name && $0 != s } }
}

let isAlike = Function("isAlike") { (left: String, right: String?, count: Int32) in
  left == right && count > 3
}
let doubled = Function("doubled") { (number: Int32) -> Int64? in Int64(number) * 2 }

func functions(_ s: String, _ n: Int32) -> [Condition<I>] {
  [
    isAlike(I.title, s, n) && I.flag && doubled(I.number) > 5,
    isAlike(I.title, I.word, I.number) && I.number > 1,
    isAlike("b", I.word, n) || isAlike(I.title, nil, 3),
    doubled(I.number + 1) * 2 == I.longNumber && I.title == "a",
  ]
}

func valuesFirst(_ a: Int32, _ b: Int64, _ s: String) -> Condition<I> {
  3 <= I.number && a > I.otherNumber && s == I.title && b - I.longNumber == 3 && "x" != I.word
    && 10 - I.number > 5 && 1.5 < I.real && a + I.number == a && Long.Mood.wild > I.mood
    && true != I.flag
}

func variables(_ a: Int32, _ b: Int32, _ c: UInt64, _ d: Double, _ s: String) -> Condition<I> {
  I.number > a && I.otherNumber < b && I.big == c && I.real >= d && I.title == s
    && I.number + a < b && (I.number + a) % b == 0 && I.number - (a + b) % 2 > a * 3 - b
    && I.real - d * 2 < d + 1 && I.word != s + "!"
}

func booleans(_ plain: Bool) -> Condition<I> {
  I.flag && !I.maybeFlag || !(I.number > 3) && I.flag == true || plain && I.flag
    || I.maybeFlag.isNull && !(I.title == "a" || I.word == "b") || I.flag && I.maybeFlag != false
    || I.number < 5 && true
}

func negations() -> [Condition<I>] {
  let many =
    !(I.title == nil) && !(nil == I.branch) && I.number > 3 && !(I.pet == nil) && I.title != "a"
    && !(I.tags != nil) && I.branch.leaf.label != nil && I.real > 2 || I.flag
  let nested =
    !(!(I.title == nil) && !(!(I.pet != nil))) && I.real > 2
    || !(I.title != nil && I.branch.leaf.label != nil)
  return [
    many, nested, !(I.title == nil), !(I.number + 1 == nil) && I.flag,
    I.leaves.any { !($0.label == nil) && $0.rank > 3 },
  ]
}

func negationsBesideValues(_ plain: Bool, _ s: String?) -> [Condition<I>] {
  let first: Condition<I> = plain && !(I.title == nil)
  let second: Condition<I> = !(s == nil) && !(I.title == nil)
  let third = (plain || I.flag) && (!plain || !(I.title == nil)) && (I.number > 3 || plain)
  return [
    first, second, third, plain && !(I.pet == nil) || I.flag, !(I.tags == nil) && !plain,
    I.tags.all { !($0 == nil) || plain },
  ]
}

func genericNegation<E: Atom>(_ text: Field<String, E>, _ pet: UnionReference<Long.Pet, E>)
  -> Condition<E>
{
  !(text == nil) && !(pet == nil) && text != "a"
}

func hidden(_ plain: Bool) -> some QueryExpression<Bool, I> { plain && !(I.title == nil) }

func memberships(_ numbers: [Int32], _ words: Set<String>) -> Condition<I> {
  I.number.in([1, 2, 3]) && I.title.notIn(["a", "b"])
    || I.otherNumber.in(numbers)
      && I.word.in(words)
    || (I.number + 1).in([2, 4]) && I.mood.in([.calm, .wild])
    || !I.wide.notIn([.huge]) && I.count.in(1...9)
    || I.maybeNumber.isNotNull
      && (I.number % 2).isNull && I.flag.in([true])
}

func references() -> Condition<I> {
  I.branch.leaf.label == "a" && (I.branch.leaf.rank + 1) % 2 == 0 && I.branch.point.x > 1
    && I.branch.point.y - 0.5 < 3 || I.branch.maybe + 1 > 3 && I.branch.leaf.weight > 2.5
    || I.pet.match(Long.Cat.self) && I.pet.as(Long.Cat.self).lives + 1 > 3
    || I.pet.as(Long.Dog.self).age % 2 == 1 && I.pet.as(String.self) == "t" || I.pet._type == 3
}

func enumerations(_ mood: Long.Mood) -> Condition<I> {
  I.mood == .calm && I.maybeMood != .wild || I.mood == mood && I.wide == .huge
    || I.mood > .gloomy
      && I.maybeMood == I.mood
    || I.wide <= .small && I.mood.in([.calm])
    || I.maybeMood.isNull
      && I.mood >= .calm
}

func everything(_ a: Int32, _ s: String, _ numbers: [Int32]) -> Condition<I> {
  I.number > 1 && I.count < 100 && I.title == "a"
    || I.flag && I.number + 2 > 5
      && I.longNumber % 2 == 0
    || I.otherNumber - 1 < a && I.word != "b" && I.mood == .calm
    || I.word == s && I.real + 1.5 - 2 > 3 - I.real
    || 3 <= I.number && I.number.in(numbers)
      && !I.flag && !(I.number + I.otherNumber > 3)
    || I.pet.match(Long.Cat.self)
      && (I.branch.leaf.rank + 1) % 2 == 0
}

func queries(_ dflat: any Workspace, _ a: Int32) -> Int {
  dflat.fetch(for: I.self).where(
    (I.number + 1) % 2 == 0 && (I.otherNumber + 1) % 3 == 0 && (I.longNumber - 4) % 5 == 1
      && I.title == "s" && I.flag && !(I.number > a) && I.mood == .calm && I.real < 2
      && I.pet.match(Long.Dog.self) && I.number.in([1, 2]),
    limit: .limit(3), orderBy: [I.number.descending, I.title.ascending]
  ).count
}

/// What stands beside overloads that are there for mistakes.
func plainSwift(_ dflat: any Workspace, _ item: I, _ items: [I], _ names: [String: String]) -> Bool
{
  let path = \I.title
  let isGiven = !(item.title == nil) && !(item.pet == nil) && !(item.maybeNumber == nil)
  let isMissing = !(names["a"] != nil) && !(items.first == nil) && !(item.maybeFlag == nil)
  let found = dflat.find(I.self, names["a"] ?? item.word)
  let words = items.map { ($0.title ?? $0.branch?.leaf?.label ?? "") + (names[$0.word] ?? "b") }
  let same = path == \I.title || path != \.branch?.leaf?.label
  return words.contains("x") && same && isGiven && !isMissing && item.pet == found?.pet
    && item.branch != found?.branch
    && (found?.maybeNumber ?? 0) + (item.maybeNumber ?? 1) > 3 && item.title?.hasPrefix("a") ?? true
    && items.contains { $0.flag && ($0.maybeFlag ?? false) }
}
