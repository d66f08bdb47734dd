// Random objects, conditions across relations and deletions, against the dullest model: arrays and
// dictionaries.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label
private typealias Stamp = Guild.Stamp

/// All objects, in order of insertion.
private struct Graph: Equatable {
  var writers: [Guild.Writer] = []
  var labels: [Guild.Label] = []
  var stories: [Guild.Story] = []
  var stamps: [Guild.Stamp] = []

  static let handles = ["ada", "ben", "cid", "dee", "eve"]
  static let names = ["red", "blue", "grey"]

  init() {}

  /// Some of the keys have no object.
  init(using random: inout SeededGenerator) {
    func maybe<T>(_ values: some Collection<T>) -> T? {
      random.oneIn(4) ? nil : random.pick(values)
    }
    for handle in Self.handles.shuffled(using: &random) where !random.oneIn(4) {
      writers.append(
        Writer(
          handle: handle, name: maybe(["Ada", "Ben", "x"]), age: maybe(0...3),
          isActive: random.oneIn(2), mentor: maybe(Self.handles),
          languages: random.oneIn(2) ? [] : ["en", "fr"].shuffled(using: &random)))
    }
    for name in Self.names where !random.oneIn(4) {
      labels.append(Label(name: name, rank: Int32.random(in: 0...2, using: &random)))
    }
    for id in 0..<Int64.random(in: 0...14, using: &random) {
      let count = random.pick([0, 1, 2, 3])
      stories.append(
        Story(
          id: id, title: maybe(["Ada", "x"]), likes: Int32.random(in: 0...3, using: &random),
          writer: maybe(Self.handles), editor: maybe(Self.handles),
          labels: (0..<count).map { _ in random.pick(Self.names) }, parent: maybe(-1...13)))
    }
    for id in 0..<Int32.random(in: 0...3, using: &random) {
      let count = random.pick([0, 1, 3])
      stamps.append(
        Stamp(
          id: id, label: random.oneIn(2) ? nil : random.pick(Self.names),
          stories: (0..<count).map { _ in random.pick(0...13) }, owner: maybe(Self.handles)))
    }
  }

  init(in dflat: any Workspace) {
    writers = Array(dflat.fetch(for: Writer.self).all())
    labels = Array(dflat.fetch(for: Label.self).all())
    stories = Array(dflat.fetch(for: Story.self).all())
    stamps = Array(dflat.fetch(for: Stamp.self).all())
  }

  func store(_ dflat: any Workspace) throws {
    try dflat.write(Writer.self, Label.self, Story.self, Stamp.self) { txn in
      try txn.delete(txn.query(Stamp.self))
      try txn.delete(txn.query(Story.self))
      try txn.delete(txn.query(Label.self))
      try txn.delete(txn.query(Writer.self))
      try txn.insert(contentsOf: writers)
      try txn.insert(contentsOf: labels)
      try txn.insert(contentsOf: stories)
      try txn.insert(contentsOf: stamps)
    }
  }

  func writer(_ handle: String?) -> Guild.Writer? { writers.first { $0.handle == handle } }
  func label(_ name: String) -> Guild.Label? { labels.first { $0.name == name } }
  func story(_ id: Int64?) -> Guild.Story? { stories.first { $0.id == id } }

  // MARK: Deletion

  /// Deletes writers, labels and stories with everything that the rules ask for.
  /// - Returns: Whether it is allowed; otherwise nothing was changed.
  mutating func delete(
    writers gone: Set<String>, labels dead: Set<String>, stories first: Set<Int64>
  )
    -> Bool
  {
    if stamps.contains(where: { $0.label.map(dead.contains) ?? false }) { return false }
    var ended = first
    for story in stories where story.writer.map(gone.contains) ?? false { ended.insert(story.id) }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for story in stories where story.parent.map(ended.contains) ?? false {
        if ended.insert(story.id).inserted { isGrowing = true }
      }
    }
    let isGone: (String?) -> Bool = { $0.map(gone.contains) ?? false }
    writers = writers.filter { !gone.contains($0.handle) }
      .map { writer in isGone(writer.mentor) ? writer.with { $0.mentor = nil } : writer }
    labels.removeAll { dead.contains($0.name) }
    stories = stories.filter { !ended.contains($0.id) }.map { story in
      story.with {
        if isGone($0.editor) { $0.editor = nil }
        $0.labels.removeAll { dead.contains($0) }
      }
    }
    stamps = stamps.map { stamp in
      stamp.with { $0.stories.removeAll { ended.contains($0) } }
    }
    return true
  }
}

/// A condition, and what it should be for a story.
private struct Case {
  let condition: Condition<Guild.Story>
  let model: (Graph, Guild.Story) -> Bool?

  static func random(_ depth: Int, using random: inout SeededGenerator) -> Case {
    if depth == 0 || random.oneIn(3) { return leaf(using: &random) }
    let left = Case.random(depth - 1, using: &random)
    if random.oneIn(3) {
      return Case(condition: !left.condition) { left.model($0, $1).map { !$0 } }
    }
    let right = Case.random(depth - 1, using: &random)
    if random.oneIn(2) {
      return Case(condition: left.condition && right.condition) {
        let parts = [left.model($0, $1), right.model($0, $1)]
        return parts.contains(false) ? false : parts.contains(nil) ? nil : true
      }
    }
    return Case(condition: left.condition || right.condition) {
      let parts = [left.model($0, $1), right.model($0, $1)]
      return parts.contains(true) ? true : parts.contains(nil) ? nil : false
    }
  }

  private static func any(_ values: [Bool?]) -> Bool? {
    values.contains(true) ? true : values.contains(nil) ? nil : false
  }

  private static func all(_ values: [Bool?]) -> Bool? {
    values.contains(false) ? false : values.contains(nil) ? nil : true
  }

  private static func leaf(using random: inout SeededGenerator) -> Case {
    let number = Int32.random(in: 0...3, using: &random)
    let name = random.pick(["Ada", "Ben", "x"])
    let handle = random.pick(Graph.handles)
    let count = Int(number)
    switch Int.random(in: 0..<24, using: &random) {
    case 0:
      return Case(condition: Story.writer.name == name) {
        $0.writer($1.writer)?.name.map { $0 == name }
      }
    case 1:
      return Case(condition: Story.writer.age > number) {
        $0.writer($1.writer)?.age.map { $0 > number }
      }
    case 2: return Case(condition: Story.writer.isActive == true) { $0.writer($1.writer)?.isActive }
    case 3: return Case(condition: Story.writer == handle) { $1.writer.map { $0 == handle } }
    case 4: return Case(condition: Story.writer.name.isNull) { $0.writer($1.writer)?.name == nil }
    case 5: return Case(condition: Story.editor.related.isNull) { $0.writer($1.editor) == nil }
    case 6:
      return Case(condition: Story.editor.related.isNotNull) { $0.writer($1.editor) != nil }
    case 7:
      return Case(condition: Story.writer.mentor.name == name) {
        $0.writer($0.writer($1.writer)?.mentor)?.name.map { $0 == name }
      }
    case 8:
      return Case(condition: Story.writer.mentor.in([handle, "ada"])) {
        $0.writer($1.writer)?.mentor.map { [handle, "ada"].contains($0) }
      }
    case 9:
      return Case(condition: Story.parent.writer.age <= number) { graph, story in
        graph.writer(graph.story(story.parent)?.writer)?.age.map { $0 <= number }
      }
    case 10:
      return Case(condition: Story.writer.age == Story.likes) { graph, story in
        graph.writer(story.writer)?.age.map { $0 == story.likes }
      }
    case 11:
      return Case(condition: Story.writer.name == Story.title) { graph, story in
        guard let name = graph.writer(story.writer)?.name, let title = story.title else {
          return nil
        }
        return name == title
      }
    case 12:
      return Case(condition: Story.writer.age < Story.editor.age) { graph, story in
        guard let age = graph.writer(story.writer)?.age, let other = graph.writer(story.editor)?.age
        else { return nil }
        return age < other
      }
    case 13:
      return Case(condition: Story.labels.any { $0.rank == number }) { graph, story in
        any(story.labels.map { graph.label($0).map { $0.rank == number } })
      }
    case 14:
      return Case(condition: Story.labels.all { $0.rank < number || $0 == "red" }) { graph, story in
        all(
          story.labels.map { name in
            any([graph.label(name).map { $0.rank < number }, name == "red"])
          })
      }
    case 15:
      return Case(condition: Story.labels.any { $0.rank == Story.likes }) { graph, story in
        any(story.labels.map { graph.label($0).map { $0.rank == story.likes } })
      }
    case 16:
      return Case(condition: Story.writer.languages.contains("fr")) {
        $0.writer($1.writer)?.languages.contains("fr")
      }
    case 17:
      return Case(condition: Story.parent.labels.any { $0.rank == number }) { graph, story in
        graph.story(story.parent).flatMap { parent in
          any(parent.labels.map { graph.label($0).map { $0.rank == number } })
        }
      }
    case 18:
      return Case(condition: Story.replies.count > count) { graph, story in
        graph.stories.count { $0.parent == story.id } > count
      }
    case 19:
      return Case(condition: Story.writer.stories.count <= count) { graph, story in
        graph.writer(story.writer).map { writer in
          graph.stories.count { $0.writer == writer.handle } <= count
        }
      }
    case 20:
      return Case(condition: Story.replies.where(Story.writer.age > number).exists) {
        graph, story in
        graph.stories.contains { reply in
          reply.parent == story.id && (graph.writer(reply.writer)?.age ?? -1) > number
        }
      }
    case 21:
      return Case(condition: Story.replies.count == Story.writer.edited.count) { graph, story in
        graph.writer(story.writer).map { writer in
          graph.stories.count { $0.parent == story.id }
            == graph.stories.count { $0.editor == writer.handle }
        }
      }
    case 22:
      return Case(condition: (Story.writer.name == name).isNull) {
        $0.writer($1.writer)?.name == nil
      }
    default:
      return Case(condition: Story.likes > number) { $1.likes > number }
    }
  }
}

@Suite("Random relations")
struct RandomRelationTests {
  @Test("Conditions give what a model gives", arguments: TestEngine.inEveryIndexState)
  func conditions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try withSeed { random in
        for round in 0..<(isLongRun ? 300 : 6) {
          let graph = Graph(using: &random)
          try graph.store(dflat)
          try workspace.disturbIndexes(of: Story._schema, using: &random)
          for place in 0..<15 {
            let test = Case.random(3, using: &random)
            let expected = graph.stories.filter { test.model(graph, $0) == true }.map(\.id)
            let query = dflat.query(Story.self).where(test.condition)
            let text = Comment(
              rawValue: "DFLAT_SEED=\(random.seed), round \(round), leaf \(place)")
            #expect(try query.fetch().map(\.id) == expected, text)
            #expect(try query.count() == expected.count, text)
            if random.oneIn(4) {
              let inside = try dflat.write(Writer.self, Story.self, Label.self) { txn in
                try txn.query(Story.self).where(test.condition).fetch().map(\.id)
              }
              #expect(inside == expected, text)
            }
          }
        }
      }
    }
  }

  @Test("Deletions do what a model does", arguments: TestEngine.inEveryIndexState)
  func deletions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try withSeed { random in
        for round in 0..<(isLongRun ? 500 : 12) {
          var graph = Graph(using: &random)
          try graph.store(dflat)
          try workspace.disturbIndexes(of: Story._schema, using: &random)
          let handles = Set(graph.writers.map(\.handle).filter { _ in random.oneIn(3) })
          let names = Set(graph.labels.map(\.name).filter { _ in random.oneIn(3) })
          let ids = Set(graph.stories.map(\.id).filter { _ in random.oneIn(6) })
          let way = random.pick(0...2)
          let observes = random.oneIn(2)
          let observed = dflat.fetch(for: Story.self).all()
          let subscription = observes ? dflat.subscribe(fetchedResult: observed) { _ in } : nil
          let text = Comment(rawValue: "DFLAT_SEED=\(random.seed), round \(round), way \(way)")
          switch way {
          case 0:
            _ = graph.delete(writers: handles, labels: [], stories: [])
            try dflat.write(Writer.self) { txn in
              for handle in handles { try txn.delete(Writer(handle: handle)) }
            }
          case 1:
            let isAllowed = graph.delete(writers: [], labels: names, stories: [])
            do {
              try dflat.write(Label.self) { try $0.delete(where: Label.name.in(names)) }
              #expect(isAllowed, text)
            } catch is DeletionDenied { #expect(!isAllowed, text) }
          default:
            _ = graph.delete(writers: [], labels: [], stories: ids)
            try dflat.write(Story.self) { txn in _ = try txn.delete(Story.self, keys: ids) }
          }
          #expect(Graph(in: dflat) == graph, text)
          withExtendedLifetime(subscription) {}
        }
      }
    }
  }
}
