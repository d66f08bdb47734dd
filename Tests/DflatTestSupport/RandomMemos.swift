// Random objects of the test schema `Memo`, and queries that its compound indexes can answer.

import Dflat

/// Generates random memos, and queries over their indexed fields.
public enum RandomMemos {
  private static let texts = ["", "a", "A", "ab", "AB", "Ab", "É", "é", "ß", "z"]

  /// A new object with a key that no other has.
  public static func memo(_ number: Int32, _ random: inout SeededGenerator) -> Desk.Memo {
    Desk.Memo(
      number: number, archived: random.oneIn(2), sortDate: random.pick([-3, 0, 1, 2, .max]),
      title: random.oneIn(4) ? nil : random.pick(texts),
      state: random.pick(Desk.State.allCases), rank: random.pick([nil, 0, 1, 2]),
      owner: random.oneIn(4)
        ? nil : Desk.Owner(handle: random.oneIn(4) ? nil : random.pick(texts), floor: 1),
      spot: random.oneIn(4) ? nil : Desk.Spot(shelf: random.pick([-1, 0, 1]), place: 2),
      weight: random.pick([0, -0.0, 1, 2.5, .nan, .infinity]),
      big: random.pick([0, 1, 7, .max, .max - 1, UInt64(Int64.max) + 1]),
      tag: random.pick(["none", "x", "y"]), topic: random.pick([nil, "t", "u"]),
      issue: random.pick([nil, number, 1]), code: random.oneIn(2) ? nil : "Code \(number)",
      score: random.pick([0, 1, 2]))
  }

  /// A query whose condition begins like one of the indexes, mostly with its order.
  /// - Parameter indexes: The indexes of the type, as the storage names of their columns.
  public static func query<M: MemoObject>(
    of type: M.Type, _ indexes: [[String]],
    _ random: inout SeededGenerator
  ) -> ModelQuery<M> {
    let known = columns(of: type)
    let indexes = indexes.map { $0.compactMap { known[$0] } }
    let columns = random.pick(indexes)
    let fixed = Int.random(in: 0...columns.count, using: &random)
    var parts: [Term<Bool, M>] = []
    for column in columns.prefix(fixed) { parts.append(column.fixed(&random)) }
    if fixed < columns.count, random.oneIn(2) { parts.append(columns[fixed].compared(&random)) }
    for _ in 0..<random.pick([0, 0, 1, 2]) {
      parts.append(random.pick(random.pick(indexes)).compared(&random))
    }
    parts.shuffle(using: &random)
    let isDescending = random.oneIn(2)
    let start = random.pick([0, 0, fixed, fixed, max(0, fixed - 1)])
    var order = columns.dropFirst(start).prefix(random.pick([0, 1, 2, 3])).map {
      $0.ordered(random.oneIn(10) != isDescending)
    }
    if random.oneIn(8) { order.append(random.pick(random.pick(indexes)).ordered(isDescending)) }
    return ModelQuery(
      condition: parts.dropFirst().reduce(parts.first) { result, part in
        result.map { and($0, part) }
      },
      order: order, limit: random.oneIn(2) ? nil : random.pick([0, 1, 3, 10]))
  }

  private static func fold(_ text: String?) -> String? {
    text.map {
      $0.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
    }
  }

  /// The indexes of memo.fbs, as the storage names of their columns.
  public static let indexes = [
    ["f6", "f8"], ["f12", "f6", "f10__nocase"], ["f16__f4", "f14", "f6"], ["f10__nocase"],
    ["f20", "f18__f0"], ["f22", "f4"], ["f6", "f24"], ["f26", "f28"], ["f30__nocase"], ["f32"],
  ]

  /// Everything that the indexes have as a column, by its storage name.
  private static func columns<M: MemoObject>(of type: M.Type) -> [String: Column<M>] {
    let owner = DflatReference<Desk.Owner, M>(16)
    let spot = DflatReference<Desk.Spot, M>(18)
    return [
      "f4": Column(.integer([1, 5, 20]), DflatField(4), "number", { $0.number }),
      "f6": Column(.bool, DflatField(6), "archived", { $0.archived }),
      "f8": Column(.integer([-3, 0, 1, 2, .max]), DflatField(8), "sortDate", { $0.sortDate }),
      "f10__nocase": Column(
        .string(["", "a", "ab", "é", "ß"]), DflatField<String, M>(10).caseInsensitive,
        "title nocase", { fold($0.title) }),
      "f12": Column(.enumeration(Desk.State.allCases), DflatField(12), "state", { $0.state }),
      "f14": Column(.integer([0, 1, 2]), DflatField(14), "rank", { $0.rank }),
      "f16__f4": Column(.string(texts), owner.handle, "owner.handle", { $0.owner?.handle }),
      "f18__f0": Column(.integer([-1, 0, 1]), spot.shelf, "spot.shelf", { $0.spot?.shelf }),
      "f20": Column(
        .real([0, -0.0, 1, 2.5, .nan, .infinity]), DflatField(20), "weight",
        { Kind.known($0.weight) }),
      "f22": Column(
        .integer([0, 1, 7, .max, UInt64(Int64.max) + 1]), DflatField(22), "big", { $0.big }),
      "f24": Column(.string(["none", "x", "y", "some"]), DflatField(24), "tag", { $0.tag }),
      "f26": Column(.string(["t", "u"]), DflatField(26), "topic", { $0.topic }),
      "f28": Column(.integer([1, 5]), DflatField(28), "issue", { $0.issue }),
      "f30__nocase": Column(
        .string(["code 5", "code 7"]), DflatField<String, M>(30).caseInsensitive, "code nocase",
        { fold($0.code) }),
      "f32": Column(.integer([0, 1, 2]), DflatField(32), "score", { $0.score }),
    ]
  }
}

/// An indexed field or its folded text.
private struct Column<M: MemoObject> {
  /// A condition that leaves one value or a few.
  let fixed: (inout SeededGenerator) -> Term<Bool, M>
  /// Any comparison.
  let compared: (inout SeededGenerator) -> Term<Bool, M>
  let ordered: (_ isDescending: Bool) -> ModelOrder<M>

  init<V: DflatFriendlyValue>(
    _ kind: Kind<V>, _ expression: some QueryExpression<V, M>, _ name: String,
    _ meaning: @escaping (M) -> V?
  ) {
    let term = Term<V, M>(expression, name, meaning)
    fixed = { random in
      switch Int.random(in: 0..<6, using: &random) {
      case 0: return isNull(term, false)
      case 1: return membership(kind, term, [random.pick(kind.constants)], false)
      case 2: return membership(kind, term, kind.constants.filter { _ in random.oneIn(2) }, false)
      default:
        return compareWithConstant(
          kind, term, random.pick(kind.constants), .equal, swapped: random.oneIn(3))
      }
    }
    compared = { random in
      let name = random.pick(ComparisonName.allCases)
      let part = compareWithConstant(
        kind, term, random.pick(kind.constants), name, swapped: random.oneIn(3))
      if random.oneIn(6) { return isNull(term, random.oneIn(2)) }
      guard random.oneIn(3) else { return part }
      return and(
        part,
        compareWithConstant(
          kind, term, random.pick(kind.constants), random.pick(ComparisonName.allCases),
          swapped: false))
    }
    ordered = { isDescending in
      func compare(_ left: V?, _ right: V?) -> Int {
        guard let left, let right else { return (left == nil ? 0 : 1) - (right == nil ? 0 : 1) }
        return kind.compare(left, right)
      }
      return ModelOrder(
        key: isDescending ? expression.descending : expression.ascending,
        compare: { left, right in
          let order = compare(meaning(left), meaning(right))
          return isDescending ? -order : order
        }, text: "\(name) \(isDescending ? "descending" : "ascending")")
    }
  }
}
