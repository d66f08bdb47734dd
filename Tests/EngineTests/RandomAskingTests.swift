// Counts, aggregates, groups, projections, pages and streams of random queries against the model.

import Dflat
import DflatTestSupport
import Testing

@Suite("Asking for less, and the model")
struct RandomAskingTests {
  @Test(
    "Every answer agrees with the objects that a fetch gives, in every state of the indexes",
    arguments: TestEngine.inEveryIndexState)
  func answersAgree(engine: TestEngine) throws {
    let rounds = isLongRun ? 200 : 1
    try withSeed { random in
      for _ in 0..<rounds {
        try withTemporaryWorkspace(engine) { workspace in
          var generator = random
          try workspace.write([Kit.Item.self]) { txn in
            for _ in 0..<60 {
              let request = Kit.ItemChangeRequest.creationRequest(RandomItems.item(&generator))
              _ = txn.try(submit: request)
            }
          }
          random = generator
          let objects = workspace.dflat.fetch(for: Kit.Item.self).all().underlyingArray
          let queries = Kit.Item.randomQueries()
          for number in 0..<20 {
            if number % 10 == 0 {
              try workspace.disturbIndexes(of: Kit.Item._schema, using: &random)
            }
            let model = queries.query(&random)
            let note = Comment(rawValue: "DFLAT_SEED=\(random.seed), \(engine): \(model.text)")
            if random.oneIn(2) {
              try check(
                model, objects, model.query(workspace.dflat.query(Kit.Item.self)), note, &random)
            } else {
              try workspace.dflat.read { context in
                try check(model, objects, model.query(context.query(Kit.Item.self)), note, &random)
              }
            }
          }
        }
      }
    }
  }

  private func check(
    _ model: ModelQuery<Kit.Item>, _ objects: [Kit.Item], _ query: ObjectQuery<Kit.Item>,
    _ note: Comment, _ random: inout SeededGenerator
  ) throws {
    let expected = model.answer(objects)
    #expect(try query.exists() == !expected.isEmpty, note)
    #expect(try query.first()?._rowid == expected.first?._rowid, note)
    #expect(
      try query.keys(Kit.Item.name).map(Array.init) == expected.map { Array($0.name.utf8) }, note)

    // Aggregates.
    let numbers = expected.map(\.maybeNumber).compactMap { $0 }
    let (count, known, sum, least, greatest) = try query.values(
      .count, .count(of: Kit.Item.maybeNumber), .sum(Kit.Item.maybeNumber),
      .min(Kit.Item.maybeNumber), .max(Kit.Item.maybeNumber))
    #expect(count == expected.count && known == numbers.count, note)
    #expect(sum == Int64(numbers.reduce(0) { $0 + Int128($1) }), note)
    #expect(least == numbers.min() && greatest == numbers.max(), note)
    let long = expected.reduce(0) { $0 + Int128($1.longNumber) }
    #expect(try query.sum(Kit.Item.longNumber) == Int64(exactly: long), note)
    let big = expected.reduce(0) { $0 + Int128($1.big) }
    #expect(try query.sum(Kit.Item.big) == UInt64(exactly: big), note)
    #expect(try query.max(Kit.Item.big) == expected.map(\.big).max(), note)
    #expect(try query.min(Kit.Item.tiny) == expected.map(\.tiny).min(), note)
    let average = try query.average(Kit.Item.tiny)
    #expect((average == nil) == expected.isEmpty, note)
    if let average {
      let exact = Double(expected.reduce(0) { $0 + Int($1.tiny) }) / Double(expected.count)
      #expect(abs(average - exact) < 1e-9, note)
    }
    let titles = expected.compactMap(\.title).map { Array($0.utf8) }
    #expect(
      try query.max(Kit.Item.title).map { Array($0.utf8) }
        == titles.max { $0.lexicographicallyPrecedes($1) }, note)
    #expect(
      try query.distinct(Kit.Item.title).map { Array($0.utf8) }
        == Set(titles).sorted { $0.lexicographicallyPrecedes($1) }, note)
    #expect(
      try query.distinct(Kit.Item.mood) == Set(expected.map(\.mood)).sorted(), note)

    // Groups.
    let groups = try query.group(by: Kit.Item.maybeMood, .count, .sum(Kit.Item.tiny))
    #expect(groups.reduce(0) { $0 + $1.1 } == expected.count, note)
    for (mood, number, sum) in groups {
      let members = expected.filter { $0.maybeMood == mood }
      #expect(number == members.count, note)
      #expect(sum == members.reduce(0) { $0 + Int64($1.tiny) }, note)
    }
    try expectCounts(query, Kit.Item.maybeMood, expected.map(\.maybeMood), note)
    try expectCounts(query, Kit.Item.wide, expected.map(\.wide), note)
    try expectCounts(query, Kit.Item.big, expected.map(\.big), note)
    try expectCounts(query, Kit.Item.maybeReal, expected.map(\.maybeReal), note)
    try expectCounts(query, Kit.Item.maybeFlag, expected.map(\.maybeFlag), note)
    try expectCounts(query, Kit.Item.serial, expected.map(\.serial), note)
    let titled = try query.group(by: Kit.Item.title, .count)
    #expect(titled.reduce(0) { $0 + $1.1 } == expected.count, note)
    for (title, number) in titled {
      #expect(number == expected.filter { $0.title.sameBytes(title) }.count, note)
    }
    let pairs = try query.group(
      by: Kit.Item.flag, and: Kit.Item.title, .count, having: { $0 > 1 })
    for (flag, title, number) in pairs {
      #expect(
        number == expected.filter { $0.flag == flag && $0.title.sameBytes(title) }.count, note)
    }

    // Projections.
    let rows = try query.select(Kit.Item.title, Kit.Item.number, Kit.Item.mood)
    #expect(rows.count == expected.count, note)
    for ((title, number, mood), object) in zip(rows, expected) {
      #expect(title.sameBytes(object.title) && number == object.number && mood == object.mood, note)
    }
    let single = try query.select(Kit.Item.longNumber)
    #expect(single == expected.map(\.longNumber), note)

    try expectParts(of: model, expected, query, note, &random)
  }
}

/// Expects that the objects of a query are counted for each value of a field; NaN is unknown.
private func expectCounts<V: DflatFriendlyValue & Hashable>(
  _ query: ObjectQuery<Kit.Item>, _ field: some QueryExpression<V, Kit.Item>, _ values: [V?],
  _ note: Comment
) throws {
  let known = values.map { (value: V?) -> V? in
    if let real = value as? Double, real.isNaN { return nil }
    return value
  }
  let expected = Dictionary(grouping: known) { $0 }.mapValues(\.count)
  let groups = try query.group(by: field, .count)
  var counts: [V?: Int] = [:]
  for (value, number) in groups { counts[value] = number }
  #expect(counts == expected && groups.count == expected.count, note)
}

/// Expects that streams, offsets and pages of a query give the model's answer.
func expectParts<Element: Atom>(
  of model: ModelQuery<Element>, _ expected: [Element], _ query: ObjectQuery<Element>,
  _ note: Comment, _ random: inout SeededGenerator
) throws {
  #expect(try query.count() == expected.count, note)
  let portion = Int.random(in: 4...20, using: &random)
  let stream = try query.stream(portion: portion)
  #expect(stream.map(\._rowid) == expected.map(\._rowid), note)
  #expect(stream.failure == nil, note)
  let offset = Int.random(in: 0...10, using: &random)
  if model.limit == nil {
    let skipped = query.offset(offset)
    #expect(try skipped.fetch().map(\._rowid) == expected.dropFirst(offset).map(\._rowid), note)
    #expect(try skipped.count() == max(0, expected.count - offset), note)
  }
  var paged: [Int64] = []
  var cursor: QueryCursor?
  repeat {
    let page = try query.page(size: portion, after: cursor)
    paged += page.objects.map(\._rowid)
    cursor = page.next
    #expect(cursor == nil || page.objects.count == portion, note)
  } while cursor != nil
  #expect(paged == expected.map(\._rowid), note)
}

extension ObjectQuery {
  fileprivate func keys(_ field: Field<String, Element>) throws -> [String.UTF8View] {
    try select(field.required).map(\.utf8)
  }
}

extension String? {
  fileprivate func sameBytes(_ other: String?) -> Bool {
    map { Array($0.utf8) } == other.map { Array($0.utf8) }
  }
}
