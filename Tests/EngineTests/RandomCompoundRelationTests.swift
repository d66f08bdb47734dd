// Random objects with compound keys, conditions across their relations and deletions, against the
// dullest model: arrays.

import Dflat
import DflatTestSupport
import Testing

private typealias Venue = Tour.Venue
private typealias Concert = Tour.Concert
private typealias Ticket = Tour.Ticket

/// All objects, in order of insertion.
private struct Season: Equatable {
  var venues: [Tour.Venue] = []
  var concerts: [Tour.Concert] = []
  var tickets: [Tour.Ticket] = []

  static let cities = ["Bern", "Oslo"]

  init() {}

  /// Some of the keys have no object, and of some one half is missing.
  init(using random: inout SeededGenerator) {
    func maybe<T>(_ values: some Collection<T>) -> T? {
      random.oneIn(4) ? nil : random.pick(values)
    }
    for city in Self.cities {
      for number in 0..<3 as Range<Int32> where !random.oneIn(4) {
        venues.append(
          Venue(
            city: city, number: number, name: maybe(["Arena", "x"]), seats: maybe(0...3),
            sisterCity: maybe(Self.cities), sisterNumber: maybe(0...2)))
      }
    }
    for season in 0..<2 as Range<Int16> {
      for number in 0..<4 as Range<Int64> where !random.oneIn(4) {
        concerts.append(
          Concert(
            season: season, number: number, title: maybe(["Arena", "y"]),
            price: Int32.random(in: 0...3, using: &random), city: maybe(Self.cities),
            hall: maybe(0...2), backupHall: maybe(0...2)))
      }
    }
    venues.shuffle(using: &random)
    concerts.shuffle(using: &random)
    for id in 0..<Int64.random(in: 0...8, using: &random) {
      let hasSpot = random.oneIn(4)
      tickets.append(
        Ticket(
          id: id, season: maybe(0...1), concertNumber: maybe(0...3),
          spotCity: hasSpot ? random.pick(Self.cities) : nil,
          spotNumber: hasSpot ? maybe(0...2) : nil, previous: maybe(0...7)))
    }
  }

  init(in dflat: any Workspace) {
    venues = Array(dflat.fetch(for: Venue.self).all())
    concerts = Array(dflat.fetch(for: Concert.self).all())
    tickets = Array(dflat.fetch(for: Ticket.self).all())
  }

  func store(_ dflat: any Workspace) throws {
    try dflat.write(Venue.self, Concert.self, Ticket.self) { txn in
      try txn.delete(txn.query(Ticket.self))
      try txn.delete(txn.query(Concert.self))
      try txn.delete(txn.query(Venue.self))
      try txn.insert(contentsOf: venues)
      try txn.insert(contentsOf: concerts)
      try txn.insert(contentsOf: tickets)
    }
  }

  func venue(_ city: String?, _ number: Int32?) -> Tour.Venue? {
    venues.first { $0.city == city && $0.number == number }
  }
  func venue(of concert: Tour.Concert?) -> Tour.Venue? { venue(concert?.city, concert?.hall) }
  func concert(of ticket: Tour.Ticket?) -> Tour.Concert? {
    concerts.first { $0.season == ticket?.season && $0.number == ticket?.concertNumber }
  }
  func sister(of venue: Tour.Venue?) -> Tour.Venue? {
    self.venue(venue?.sisterCity, venue?.sisterNumber)
  }

  /// Deletes the venues and concerts for which a test is true, with what the rules ask for.
  /// - Returns: Whether it is allowed; otherwise nothing was changed.
  mutating func delete(
    venues isVenue: (Tour.Venue) -> Bool, concerts isConcert: (Tour.Concert) -> Bool
  ) -> Bool {
    let before = self
    let gone = venues.filter(isVenue)
    func isGone(_ city: String?, _ number: Int32?) -> Bool {
      gone.contains { $0.city == city && $0.number == number }
    }
    let ended = concerts.filter { isConcert($0) || isGone($0.city, $0.hall) }
    tickets.removeAll { ticket in
      ended.contains { $0.season == ticket.season && $0.number == ticket.concertNumber }
    }
    if tickets.contains(where: { isGone($0.spotCity, $0.spotNumber) }) {
      self = before
      return false
    }
    venues = venues.filter { !gone.contains($0) }.map { venue in
      guard isGone(venue.sisterCity, venue.sisterNumber) else { return venue }
      return venue.with {
        $0.sisterCity = nil
        $0.sisterNumber = nil
      }
    }
    concerts = concerts.filter { !ended.contains($0) }.map { concert in
      guard isGone(concert.city, concert.backupHall) else { return concert }
      return concert.with {
        $0.city = nil
        $0.backupHall = nil
      }
    }
    return true
  }
}

/// A condition, and what it should be for a ticket.
private struct Case {
  let condition: Condition<Tour.Ticket>
  let model: (Season, Tour.Ticket) -> Bool?

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

  private static func leaf(using random: inout SeededGenerator) -> Case {
    let number = Int32.random(in: 0...3, using: &random)
    let count = Int(number) - 1
    func previous(_ season: Season, _ ticket: Tour.Ticket) -> Tour.Ticket? {
      season.tickets.first { $0.id == ticket.previous }
    }
    switch Int.random(in: 0..<14, using: &random) {
    case 0:
      return Case(condition: Ticket.concert.title == "Arena") {
        $0.concert(of: $1)?.title.map { $0 == "Arena" }
      }
    case 1:
      return Case(condition: Ticket.concert.price > number) {
        $0.concert(of: $1).map { $0.price > number }
      }
    case 2: return Case(condition: Ticket.concert.isNull) { $0.concert(of: $1) == nil }
    case 3:
      return Case(condition: Ticket.concert.venue.seats <= number) {
        $0.venue(of: $0.concert(of: $1))?.seats.map { $0 <= number }
      }
    case 4:
      return Case(condition: Ticket.concert.venue.name.isNotNull) {
        $0.venue(of: $0.concert(of: $1))?.name != nil
      }
    case 5:
      return Case(condition: Ticket.concert.venue.sister.seats == number) {
        $0.sister(of: $0.venue(of: $0.concert(of: $1)))?.seats.map { $0 == number }
      }
    case 6:
      return Case(condition: Ticket.concert.venue.name == Ticket.concert.title) { season, ticket in
        let concert = season.concert(of: ticket)
        guard let title = concert?.title, let name = season.venue(of: concert)?.name else {
          return nil
        }
        return title == name
      }
    case 7:
      return Case(condition: Ticket.spot.seats > Ticket.concert.price) { season, ticket in
        guard let price = season.concert(of: ticket)?.price,
          let seats = season.venue(ticket.spotCity, ticket.spotNumber)?.seats
        else { return nil }
        return seats > price
      }
    case 8:
      return Case(condition: Ticket.previous.concert.venue.seats > number) { season, ticket in
        season.venue(of: season.concert(of: previous(season, ticket)))?.seats.map { $0 > number }
      }
    case 9:
      return Case(condition: Ticket.concert.tickets.count > count) { season, ticket in
        season.concert(of: ticket).map { concert in
          season.tickets.count { season.concert(of: $0) == concert } > count
        }
      }
    case 10:
      return Case(condition: Ticket.concert.venue.concerts.where(Concert.price > number).exists) {
        season, ticket in
        season.venue(of: season.concert(of: ticket)).map { venue in
          season.concerts.contains { season.venue(of: $0) == venue && $0.price > number }
        }
      }
    case 11:
      return Case(condition: Ticket.concert.venue.backups.isEmpty) { season, ticket in
        season.venue(of: season.concert(of: ticket)).map { venue in
          !season.concerts.contains { season.venue($0.city, $0.backupHall) == venue }
        }
      }
    case 12:
      return Case(condition: Ticket.concert.season == 1 && Ticket.concert.number > 0) {
        $0.concert(of: $1).map { $0.season == 1 && $0.number > 0 }
      }
    default: return Case(condition: Ticket.id > Int64(number)) { $1.id > Int64(number) }
    }
  }
}

@Suite("Random relations by compound keys")
struct RandomCompoundRelationTests {
  @Test(
    "Conditions and related objects are those of a model", arguments: TestEngine.inEveryIndexState)
  func conditions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try withSeed { random in
        for round in 0..<(isLongRun ? 300 : 6) {
          let season = Season(using: &random)
          try season.store(dflat)
          try workspace.disturbIndexes(of: Concert._schema, using: &random)
          for place in 0..<15 {
            let test = Case.random(3, using: &random)
            let expected = season.tickets.filter { test.model(season, $0) == true }
            let query = dflat.query(Ticket.self).where(test.condition)
            let text = Comment(rawValue: "DFLAT_SEED=\(random.seed), round \(round), leaf \(place)")
            #expect(try query.keys() == expected.map(\.id), text)
            #expect(try query.count() == expected.count, text)
            let pairs = try query.including(Ticket.concert).fetch()
            #expect(pairs.map(\.related) == expected.map { season.concert(of: $0) }, text)
          }
          let venues = try dflat.query(Venue.self).including(Venue.concerts).fetch()
          #expect(
            venues.map(\.related)
              == season.venues.map { venue in
                season.concerts.filter { season.venue(of: $0) == venue }
              })
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
          var season = Season(using: &random)
          try season.store(dflat)
          try workspace.disturbIndexes(of: Concert._schema, using: &random)
          let way = random.pick(0...2)
          let text = Comment(rawValue: "DFLAT_SEED=\(random.seed), round \(round), way \(way)")
          let number = random.pick(0...2) as Int32
          switch way {
          case 0:
            let venue = random.pick(season.venues + [Venue(city: "Rome", number: 1)])
            let isAllowed = season.delete(venues: { $0 == venue }, concerts: { _ in false })
            try dflat.write(Venue.self) { txn in
              do {
                try txn.delete(venue)
                #expect(isAllowed, text)
              } catch is DeletionDenied { #expect(!isAllowed, text) }
            }
          case 1:
            let isAllowed = season.delete(
              venues: { $0.number == number }, concerts: { _ in false })
            do {
              try dflat.write(Venue.self) { try $0.delete(where: Venue.number == number) }
              #expect(isAllowed, text)
            } catch is DeletionDenied { #expect(!isAllowed, text) }
          default:
            _ = season.delete(venues: { _ in false }, concerts: { $0.price == number })
            try dflat.write(Concert.self) { try $0.delete(where: Concert.price == number) }
          }
          #expect(Season(in: dflat) == season, text)
        }
      }
    }
  }
}
