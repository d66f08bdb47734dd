// Conditions across relations by keys of several fields, and what such relations include.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Venue = Tour.Venue
private typealias Concert = Tour.Concert
private typealias Ticket = Tour.Ticket

@Suite("Relations by compound keys")
struct CompoundRelationTests {
  /// The two halves of Bern's keys are those of other venues, too. Concert 3 has no hall, the hall
  /// of concert 4 is not stored. Ticket 4 has half a key, the concert of ticket 5 is not stored.
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Venue.self, Concert.self, Ticket.self) { txn in
      try txn.insert(contentsOf: [
        Venue(city: "Bern", number: 1, name: "Arena", seats: 10),
        Venue(city: "Bern", number: 2, name: "Club", sisterCity: "Bern", sisterNumber: 1),
        Venue(city: "Oslo", number: 1, name: nil, seats: 30, sisterCity: "Rome", sisterNumber: 9),
      ])
      try txn.insert(contentsOf: [
        Concert(season: 1, number: 1, title: "Arena", price: 10, city: "Bern", hall: 1),
        Concert(
          season: 1, number: 2, title: "two", price: 20, city: "Bern", hall: 2, backupHall: 1),
        Concert(season: 2, number: 1, title: "three", city: "Bern"),
        Concert(season: 2, number: 2, title: "four", city: "Oslo", hall: 2, backupHall: 1),
        Concert(season: 3, number: 1, title: "five", price: 5, city: "Oslo", hall: 1),
      ])
      try txn.insert(contentsOf: [
        Ticket(id: 1, season: 1, concertNumber: 1),
        Ticket(id: 2, season: 1, concertNumber: 2, spotCity: "Oslo", spotNumber: 1, previous: 1),
        Ticket(id: 3, season: 2, concertNumber: 1, previous: 2),
        Ticket(id: 4, season: 1, previous: 9),
        Ticket(id: 5, season: 3, concertNumber: 2, spotCity: "Bern"),
      ])
    }
  }

  private func titles<C: QueryExpression<Bool, Tour.Concert>>(
    _ dflat: any Workspace, _ condition: C
  ) throws -> [String] {
    let query = dflat.query(Concert.self).where(condition)
    let fetched = try query.fetch().compactMap(\.title)
    #expect(try query.count() == fetched.count)
    #expect(dflat.fetch(for: Concert.self).where(condition).compactMap(\.title) == fetched)
    return fetched
  }

  private func tickets<C: QueryExpression<Bool, Tour.Ticket>>(
    _ dflat: any Workspace, _ condition: C
  ) throws -> [Int64] {
    try dflat.query(Ticket.self).where(condition).keys()
  }

  @Test("Fields of the other object, unknown without one", arguments: TestEngine.all)
  func targets(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try titles(dflat, Concert.venue.name == "Arena") == ["Arena"])
      #expect(try titles(dflat, Concert.venue.name != "Arena") == ["two"])
      #expect(try titles(dflat, !(Concert.venue.name == "Arena")) == ["two"])
      #expect(try titles(dflat, Concert.venue.seats >= 10) == ["Arena", "five"])
      // The halves (Bern, 2) and (Oslo, 1) belong together.
      #expect(
        try titles(dflat, Concert.venue.name == "Club" || Concert.venue.seats == 30)
          == ["two", "five"])
      #expect(try titles(dflat, Concert.backup.seats == 10 && Concert.price > 10) == ["two"])
      #expect(try titles(dflat, Concert.venue.related.isNull) == ["three", "four"])
      #expect(try titles(dflat, Concert.venue.isNotNull) == ["Arena", "two", "five"])
      #expect(try titles(dflat, Concert.venue == nil) == ["three", "four"])
      #expect(try titles(dflat, Concert.venue == nil && Concert.hall > 0) == ["four"])
      #expect(
        try titles(dflat, !(Concert.venue != nil) && Concert.season == 2) == ["three", "four"])
      #expect(try titles(dflat, Concert.venue != nil && Concert.price > 10) == ["two"])
      #expect(try titles(dflat, Concert.venue.name.isNull) == ["three", "four", "five"])
      #expect(try titles(dflat, !Concert.venue.name.isNotNull) == ["three", "four", "five"])
    }
  }

  @Test("Chains of relations, by keys of one field and of several", arguments: TestEngine.all)
  func chains(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try titles(dflat, Concert.venue.sister.name == "Arena") == ["two"])
      #expect(try tickets(dflat, Ticket.concert.venue.name == "Arena") == [1])
      #expect(try tickets(dflat, !(Ticket.concert.venue.name == "Arena")) == [2])
      #expect(try tickets(dflat, Ticket.concert.venue.related.isNull) == [3, 4, 5])
      #expect(try tickets(dflat, Ticket.concert.venue.sister.seats == 10) == [2])
      #expect(try tickets(dflat, Ticket.previous.concert.title == "two") == [3])
      #expect(try tickets(dflat, Ticket.previous.concert.venue.name == "Arena") == [2])
      #expect(try tickets(dflat, Ticket.concert.title.isNotNull && Ticket.spot.isNull) == [1, 3])
    }
  }

  @Test("Both sides in one comparison, orders and values", arguments: TestEngine.all)
  func mixed(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try titles(dflat, Concert.venue.name == Concert.title) == ["Arena"])
      #expect(try titles(dflat, Concert.venue.seats == Concert.price) == ["Arena"])
      #expect(try titles(dflat, Concert.venue.name > Concert.backup.name) == ["two"])
      let ordered = dflat.query(Concert.self).orderBy(Concert.venue.name.descending)
      #expect(
        try ordered.fetch().compactMap(\.title) == ["two", "Arena", "three", "four", "five"])
      let seats = try dflat.query(Concert.self).select(Concert.venue.seats).map(\.self)
      #expect(seats == [10, nil, nil, nil, 30])
      #expect(try dflat.query(Ticket.self).sum(Ticket.concert.venue.seats) == 10)
    }
  }

  @Test("Objects that refer to an object", arguments: TestEngine.all)
  func inverse(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      func names(_ condition: some QueryExpression<Bool, Tour.Venue>) throws -> [String] {
        try dflat.query(Venue.self).where(condition).fetch().map { $0.name ?? "Oslo" }
      }
      #expect(try names(Venue.concerts.count == 1) == ["Arena", "Club", "Oslo"])
      #expect(try names(Venue.backups.exists) == ["Arena", "Oslo"])
      #expect(try names(Venue.backups.isEmpty) == ["Club"])
      #expect(try names(!Venue.backups.isEmpty) == ["Arena", "Oslo"])
      #expect(try names(Venue.sisters.count > 0) == ["Arena"])
      #expect(try names(Venue.concerts.where(Concert.price > 5).exists) == ["Arena", "Club"])
      #expect(try names(Venue.concerts.count > Venue.backups.count) == ["Club"])
      #expect(try titles(dflat, Concert.tickets.where(Ticket.id < 3).exists) == ["Arena", "two"])
      #expect(try titles(dflat, Concert.venue.backups.count == 1) == ["Arena", "five"])
      #expect(try tickets(dflat, Ticket.concert.venue.concerts.exists) == [1, 2])
      let club = try #require(try dflat.query(Venue.self).where(Venue.name == "Club").first())
      #expect(try dflat.query(club.concerts).fetch().map(\.title) == ["two"])
      #expect(try dflat.query(club.sisters).count() == 0)
    }
  }

  @Test("Related objects in one fetch", arguments: TestEngine.all)
  func included(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let concerts = dflat.query(Concert.self)
      #expect(
        try concerts.including(Concert.venue).fetch().map { $0.related?.seats }
          == [10, nil, nil, nil, 30])
      #expect(
        try concerts.including(Concert.backup).fetch().map { $0.related?.number }
          == [nil, 1, nil, 1, nil])
      #expect(
        try concerts.including(Concert.tickets).fetch().map { $0.related.map(\.id) }
          == [[1], [2], [3], [], []])
      let venues = dflat.query(Venue.self)
      #expect(
        try venues.including(Venue.concerts).fetch().map { $0.related.compactMap(\.title) }
          == [["Arena"], ["two"], ["five"]])
      #expect(
        try venues.including(Venue.backups.where(Concert.price > 0)).fetch()
          .map { $0.related.compactMap(\.title) } == [["two"], [], []])
      #expect(throws: QueryError.self) {
        try dflat.query(Ticket.self).including(Ticket.concert.venue).fetch()
      }
      #expect(throws: WorkspaceError.undeclaredType("Venue")) {
        try dflat.write(Concert.self) {
          try $0.query(Concert.self).including(Concert.venue).fetch()
        }
      }
    }
  }

  @Test("Pairs with several equal values", arguments: TestEngine.all)
  func joins(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let pairs = dflat.join(Concert.self, Venue.self, on: Concert.city, Venue.city)
        .on(Concert.hall, Venue.number)
      #expect(try pairs.fetch().map(\.0.title) == ["Arena", "two", "five"])
      #expect(try pairs.fetch().map(\.1.name) == ["Arena", "Club", nil])
      #expect(try pairs.where(Venue.seats > 10).fetch().map(\.0.title) == ["five"])
      #expect(throws: QueryError.self) {
        try pairs.on(Concert.venue.name, Venue.name).fetch()
      }
    }
  }

  @Test("Keys without an object are found, and half a key is none", arguments: TestEngine.all)
  func dangling(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try store(dflat)
      var found: [String] = []
      for schema in [Venue._schema, Concert._schema, Ticket._schema] {
        try dflat.danglingReferences(of: schema) { found.append("\($0)") }
      }
      #expect(
        found == [
          "Venue, row 3: sister_city, sister_number refers to Venue (city: \"Rome\", number: 9), which is not stored",
          "Concert, row 4: city, hall refers to Venue (city: \"Oslo\", number: 2), which is not stored",
          "Ticket, row 4: previous refers to Ticket (id: 9), which is not stored",
          "Ticket, row 5: season, concert_number refers to Concert (season: 3, number: 2), which is not stored",
        ])
      let findings = try await dflat.checkIntegrity(of: Venue.self, Concert.self, Ticket.self)
      #expect(findings.map(\.message) == found)
    }
  }

  @Test("Transactions see their own changes, and drafts keep the key", arguments: TestEngine.all)
  func transactions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      try dflat.write(Venue.self, Concert.self) { txn in
        let arena = txn.query(Concert.self).where(Concert.venue.name == "Arena")
        #expect(try arena.count() == 1)
        try txn.update(where: Concert.title == "three") { $0.hall = 1 }
        #expect(try arena.count() == 2)
        try txn.update(where: Concert.title == "three") { $0.city = nil }
        #expect(try arena.count() == 1)
        #expect(try txn.update(where: Concert.venue.name == "Club") { $0.price = 7 }.updated == 1)
      }
      #expect(try titles(dflat, Concert.price == 7) == ["two"])
      #expect(throws: WorkspaceError.undeclaredType("Venue")) {
        try dflat.write(Concert.self) { txn in
          try txn.query(Concert.self).where(Concert.venue.name == "Arena").count()
        }
      }
    }
  }

  @Test("A result follows changes of both types", arguments: TestEngine.all)
  func live(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try store(dflat)
      let calls = Mutex<[[String]]>([])
      let subscription = dflat.subscribe(
        fetchedResult: dflat.fetch(for: Concert.self).where(Concert.venue.seats > 20)
      ) { result in calls.withLock { $0.append(result.compactMap(\.title)) } }
      let counts = Mutex<[Int]>([])
      let other = dflat.subscribe(
        dflat.query(Venue.self).where(Venue.concerts.exists).computing(.count)
      ) { count in counts.withLock { $0.append(count) } }
      func settle() async throws { try await dflat.write(Venue.self, Concert.self) { _ in } }
      try await settle()
      try await dflat.write(Venue.self) { txn in
        _ = try txn.insert(Venue(city: "Oslo", number: 2, seats: 40))
      }
      try await settle()
      try await dflat.write(Concert.self) { txn in
        _ = try txn.update(where: Concert.title == "five") { $0.hall = nil }
      }
      try await settle()
      #expect(calls.withLock(\.self) == [["four", "five"], ["four"]])
      #expect(counts.withLock(\.self) == [3, 4, 3])
      withExtendedLifetime((subscription, other)) {}
    }
  }

  @Test(
    "An index of the fields answers a condition on the other object",
    arguments: [TestEngine.sqlite, .memory])
  func plan(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let plan = try dflat.query(Concert.self).where(Concert.venue.seats > 0).explain()
      #expect(plan.indexedFields == ["city, hall"])
      let one = try dflat.query(Concert.self).where(Concert.venue.name == "Club").explain()
      #expect(one.indexedFields == ["city, hall"])
      let chain = try dflat.query(Concert.self).where(Concert.venue.sister.seats == 10).explain()
      #expect(chain.indexedFields == ["city, hall"])
      let arena = try #require(try dflat.query(Venue.self).first())
      let concerts = try dflat.query(arena.concerts).explain()
      #expect(concerts.indexedFields == ["city, hall"] && concerts.rowByRow == nil)
    }
  }
}
