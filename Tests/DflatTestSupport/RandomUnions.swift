// Random conditions on the elements of a vector of unions.

import Dflat

extension Kit.Pet {
  fileprivate var cat: Kit.Cat? { if case .cat(let cat) = self { cat } else { nil } }
  fileprivate var dog: Kit.Dog? { if case .dog(let dog) = self { dog } else { nil } }
  fileprivate var point: Kit.Point? { if case .point(let point) = self { point } else { nil } }
}

extension Kit.Item {
  /// A random condition on the elements of `pets`.
  static func unionVectorTest(_ random: inout SeededGenerator) -> Term<Bool, Kit.Item> {
    typealias Item = Kit.Item
    typealias Pet = UnionReference<Kit.Pet, Kit.Item>
    let text = random.pick(Pool.strings)
    let lives = random.pick(Pool.integers(UInt8.self))
    let real = random.pick(Pool.reals)
    let isAny = random.oneIn(2)

    /// A condition on any or all elements.
    func term<C: QueryExpression<Bool, Item>>(
      _ name: String, _ condition: (Pet) -> C, _ meaning: @escaping (Kit.Pet, Item) -> Bool?
    ) -> Term<Bool, Item> {
      Term(
        isAny ? Item.pets.any(condition) : Item.pets.all(condition),
        "pets.\(isAny ? "any" : "all")(\(name))"
      ) { item in
        let results = item.pets.map { meaning($0, item) }
        return isAny ? any(results) : all(results)
      }
    }

    switch Int.random(in: 0..<9, using: &random) {
    case 0:
      let count = random.pick([0, 1, 2, 3])
      return Term(Item.pets.count == count, "pets.count == \(count)", { $0.pets.count == count })
    case 1:
      return random.oneIn(2)
        ? Term(
          Item.pets.contains(Kit.Dog.self), "pets.contains(Dog)",
          { $0.pets.contains { $0.dog != nil } })
        : Term(
          Item.pets.contains(Kit.Point.self), "pets.contains(Point)",
          { $0.pets.contains { $0.point != nil } })
    case 2:
      return term(
        "match(Cat) && lives > \(lives)",
        { $0.match(Kit.Cat.self) && $0.as(Kit.Cat.self).lives > lives },
        { pet, _ in pet.cat.map { $0.lives > lives } ?? false })
    case 3:
      // Unknown for other members, and for cats without a name.
      return term(
        "Cat.name == \(text)", { $0.as(Kit.Cat.self).name == text },
        { pet, _ in same(pet.cat?.name, text) })
    case 4:
      return term(
        "Point.y > \(real)", { $0.as(Kit.Point.self).y > real },
        { pet, _ in pet.point.flatMap { $0.y.isNaN || real.isNaN ? nil : $0.y > real } })
    case 5:
      // A field of the object, and one further in.
      return term(
        "Cat.leaf.label == title", { $0.as(Kit.Cat.self).leaf.label == Item.title },
        { pet, item in same(pet.cat?.leaf?.label, item.title) })
    case 6:
      // Elements of two vectors.
      return term(
        "tags.any(== Dog.name)",
        { pet in Item.tags.any { $0 == pet.as(Kit.Dog.self).name } },
        { pet, item in any(item.tags.map { same($0, pet.dog?.name) }) })
    case 7:
      return term(
        "Empty.isNull && Point.isNull && Dog.age.isNull",
        {
          $0.as(Kit.Empty.self).isNull && $0.as(Kit.Point.self).isNull
            && $0.as(Kit.Dog.self).age.isNull
        },
        { pet, _ in
          switch pet {
          case .cat: true
          case .dog(let dog): dog.age == nil
          case .point, .empty: false
          }
        })
    default:
      // The same variable twice, of the same vector.
      return term(
        "pets.any(_type < _type)", { pet in Item.pets.any { $0._type < pet._type } },
        { pet, item in item.pets.contains { $0._tag < pet._tag } })
    }
  }
}
