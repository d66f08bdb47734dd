// The order of what a search finds, and where its words are in the texts.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("The relevance of what a search finds")
struct RelevanceTests {
  private typealias Story = Tale.Story

  private func store(_ texts: [(String?, String?)], in workspace: some TestWorkspace) throws {
    try workspace.write([Story.self]) { txn in
      for (number, (title, body)) in texts.enumerated() {
        let story = Story(
          id: Int32(number + 1), title: title, body: body, motto: "", year: Int32(number % 3))
        try txn.submit(Tale.StoryChangeRequest.creationRequest(story))
      }
    }
  }

  private static let texts: [(String?, String?)] = [
    ("swift", "storage and other things"), ("storage", "swift swift swift"),
    ("other", "things here"),
    ("swift storage", "swift"), ("things", "a long text about swift, with many other words in it"),
  ]

  @Test(
    "The best objects come first, with weights for fields", arguments: TestEngine.inEveryIndexState)
  func rank(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.texts, in: workspace)
      var random = SeededGenerator(seed: 4)
      try workspace.disturbIndexes(of: Story._schema, using: &random)
      let all = workspace.dflat.fetch(for: Story.self)
      for _ in 0..<3 {
        let search = Story.search("swift")
        let best = all.where(search, orderBy: [search.rank]).map(\.id)
        #expect(best.sorted() == [1, 2, 4, 5] && best.last == 5)
        let titled = all.where(search, limit: 2, orderBy: [search.rank([Story.title: 1000])])
        #expect(Set(titled.map(\.id)) == [1, 4])
        let some = all.where(search && Story.year > 0, orderBy: [search.rank([Story.title: 1000])])
        #expect(some.map(\.id).sorted() == [2, 5])
        let query = workspace.dflat.query(Story.self).where(search).orderBy(search.rank)
        #expect(try query.limit(3).offset(1).fetch().map(\.id) == Array(best[1...3]))
        #expect(throws: QueryError.self) { try query.page(size: 2) }
        try workspace.write([Story.self]) { _ in }
      }
    }
  }

  @Test("A stream in the order of relevance has each object once", arguments: TestEngine.all)
  func stream(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      // What else a text contains counts in an index, and not in what an object alone tells.
      try store(
        (0..<60).map { number in
          let red = String(repeating: "red ", count: number % 5 + 1)
          return (red, String(repeating: "filler ", count: number * 7 % 13))
        }, in: workspace)
      let search = Story.search("red")
      let query = workspace.dflat.query(Story.self).where(search)
      for order in [search.rank, search.rank([Story.body: 3]), search.relevance().ascending] {
        let best = try query.orderBy(order).fetch().map(\.id)
        #expect(best.count == 60 && Set(best).count == 60)
        #expect(try query.orderBy(order).stream(portion: 7).map(\.id) == best)
        let some = try query.orderBy(order).offset(3).limit(20).stream(portion: 7).map(\.id)
        #expect(some == Array(best[3..<23]))
        let years = query.orderBy(Story.year.ascending, order)
        #expect(try years.stream(portion: 7).map(\.id) == years.fetch().map(\.id))
      }
    }
  }

  @Test("A live result in the order of relevance equals a new fetch", arguments: TestEngine.all)
  func live(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(Self.texts, in: workspace)
      let dflat = workspace.dflat
      let search = Story.search("swift")
      let heard = Mutex<[Int32]>([])
      let first = dflat.fetch(for: Story.self).where(search, limit: 3, orderBy: [search.rank])
      let subscription = dflat.subscribe(fetchedResult: first) { result in
        heard.withLock { $0 = result.map(\.id) }
      }
      for (id, title) in [(3, "swift swift"), (2, "none"), (5, "swift")] as [(Int32, String)] {
        try workspace.write([Story.self]) { txn in
          let story = try #require(dflat.fetch(for: Story.self).where(Story.id == id).first)
          let request = try #require(Tale.StoryChangeRequest.changeRequest(story))
          request.title = title
          request.body = title
          try txn.submit(request)
        }
        let now = dflat.fetch(for: Story.self).where(search, limit: 3, orderBy: [search.rank])
        #expect(heard.withLock { $0 } == now.map(\.id))
      }
      subscription.cancel()
    }
  }

  @Test(
    "A result in the order of relevance is never one that no state has, also while deliveries lag",
    arguments: TestEngine.all)
  func lagging(engine: TestEngine) throws {
    let search = Story.search("swift")
    func best(in dflat: any Workspace) -> FetchedResult<Story> {
      dflat.fetch(for: Story.self).where(search, limit: 5, orderBy: [search.rank])
    }
    func prepare(_ workspace: some TestWorkspace) throws {
      try store(
        (0..<40).map { (String(repeating: "swift ", count: $0 % 4 + 1), $0 % 3 == 0 ? "a" : nil) },
        in: workspace)
    }
    func story(_ number: Int) -> Story {
      Story(
        id: Int32(100 + number), title: String(repeating: "swift ", count: number % 7 + 1),
        body: number % 2 == 0 ? "other" : nil)
    }
    // What each state has.
    var states: [[Int32]] = []
    try withTemporaryWorkspace(engine) { workspace in
      try prepare(workspace)
      states.append(best(in: workspace.dflat).map(\.id))
      for number in 0..<20 {
        try workspace.dflat.write(Story.self) { try $0.insert(story(number)) }
        states.append(best(in: workspace.dflat).map(\.id))
      }
    }
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try prepare(workspace)
      let (isCalled, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slow = dflat.subscribe(dflat.query(Story.self).where(Story.id == 100)) { found in
        if found.isEmpty { return }
        isCalled.signal()
        mayGoOn.expect("the other commits")
      }
      let heard = Log<[Int32]>()
      let watched = dflat.subscribe(fetchedResult: best(in: dflat)) { heard.add($0.map(\.id)) }
      let done = DispatchGroup()
      for number in 0..<20 {
        done.enter()
        let new = story(number)
        dflat.performChanges(
          [Story.self],
          changesHandler: { $0.try(submit: Tale.StoryChangeRequest.creationRequest(new)) },
          completionHandler: { _ in done.leave() })
      }
      isCalled.expect("the slow handler")
      #expect(eventually { dflat.fetch(for: Story.self).where(Story.id == 119).count == 1 })
      // This one begins while all the others are not delivered.
      let late = Log<[Int32]>()
      let query = dflat.query(Story.self).where(search).orderBy(search.rank).limit(5)
      let begun = dflat.subscribe(query) { late.add($0.map(\.id)) }
      mayGoOn.signal()
      #expect(done.expect("the completions"))
      late.wait()
      #expect((heard.events + late.events).allSatisfy { states.contains($0) })
      #expect(late.events.last == states.last)
      if states.first != states.last { #expect(heard.events.last == states.last) }
      for subscription in [slow, watched, begun] { subscription.cancel() }
    }
  }
}
