// What happens to the objects that refer to a deleted one by several fields.

import Dflat
import DflatTestSupport
import Testing

private typealias Venue = Tour.Venue
private typealias Concert = Tour.Concert
private typealias Ticket = Tour.Ticket

@Suite("Deletion rules of compound keys")
struct CompoundDeletionTests {
  @Test("Cascade and nullify, through several types", arguments: TestEngine.all)
  func rules(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Venue.self, Concert.self, Ticket.self) { txn in
        try txn.insert(contentsOf: [
          Venue(city: "Bern", number: 1),
          Venue(city: "Bern", number: 2, name: "Club", sisterCity: "Bern", sisterNumber: 1),
          Venue(city: "Oslo", number: 1, sisterCity: "Bern", sisterNumber: 2),
        ])
        try txn.insert(contentsOf: [
          Concert(season: 1, number: 1, city: "Bern", hall: 1, backupHall: 1),
          Concert(season: 1, number: 2, city: "Bern", hall: 2, backupHall: 1),
          Concert(season: 2, number: 1, city: "Oslo", hall: 1, backupHall: 1),
          Concert(season: 2, number: 2, city: "Bern"),
        ])
        try txn.insert(contentsOf: [
          Ticket(id: 1, season: 1, concertNumber: 1), Ticket(id: 2, season: 2, concertNumber: 1),
          Ticket(id: 3, season: 1), Ticket(id: 4, concertNumber: 1, previous: 1),
        ])
      }
      let isDeleted = try dflat.write(Venue.self) { try $0.delete(Venue(city: "Bern", number: 1)) }
      #expect(isDeleted)
      #expect(
        dflat.fetch(for: Venue.self).all()
          == FetchedResult([
            Venue(city: "Bern", number: 2, name: "Club"),
            Venue(city: "Oslo", number: 1, sisterCity: "Bern", sisterNumber: 2),
          ]))
      // The backup of the second concert is emptied, with the field that the hall's key shares.
      #expect(
        dflat.fetch(for: Concert.self).all()
          == FetchedResult([
            Concert(season: 1, number: 2, hall: 2),
            Concert(season: 2, number: 1, city: "Oslo", hall: 1, backupHall: 1),
            Concert(season: 2, number: 2, city: "Bern"),
          ]))
      #expect(dflat.fetch(for: Ticket.self).all().map(\.id) == [2, 3, 4])
      for schema in [Venue._schema, Concert._schema, Ticket._schema] {
        #expect(try workspace.faults(of: schema).isEmpty)
      }
    }
  }

  @Test("Deny names both keys, and half a key denies nothing", arguments: TestEngine.all)
  func deny(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Venue.self, Ticket.self) { txn in
        try txn.insert(contentsOf: [
          Venue(city: "Bern", number: 1), Venue(city: "Bern", number: 2),
          Venue(city: "Oslo", number: 1),
        ])
        try txn.insert(contentsOf: [
          Ticket(id: 1, spotCity: "Bern", spotNumber: 1), Ticket(id: 2, spotCity: "Oslo"),
          Ticket(id: 3, spotNumber: 1),
        ])
      }
      let denied =
        "deletionDenied: Venue (city: \"Bern\", number: 1) is not deleted: spot_city, spot_number of Ticket (id: 1) refers to it; delete that Ticket first, or set its spot_city, spot_number"
      try dflat.write(Venue.self) { txn in
        do {
          try txn.delete(Venue(city: "Bern", number: 1))
          Issue.record("it was deleted")
        } catch let error as DeletionDenied {
          #expect(error.description == denied)
        }
        try txn.delete(Venue(city: "Bern", number: 2))
        try txn.delete(Venue(city: "Oslo", number: 1))
      }
      #expect(dflat.fetch(for: Venue.self).all().map(\.city) == ["Bern"])
      #expect(throws: DeletionDenied.self) {
        try dflat.write(Venue.self) { try $0.delete(where: Venue.number > 0) }
      }
    }
  }

  @Test("Very many keys", arguments: TestEngine.all)
  func manyKeys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let count = 2_600
      try dflat.write(Venue.self, Concert.self) { txn in
        let venues = (0..<Int32(count)).map { Venue(city: "c\($0 / 50)", number: $0 % 50) }
        try txn.insert(contentsOf: venues)
        for (place, venue) in venues.enumerated() {
          for season in 1...2 as ClosedRange<Int16> {
            try txn.insert(
              Concert(
                season: season, number: Int64(place), city: venue.city, hall: venue.number))
          }
        }
      }
      #expect(try dflat.query(Concert.self).where(Concert.venue.isNotNull).count() == count * 2)
      let included = try dflat.query(Concert.self).including(Concert.venue).fetch()
      for (concert, venue) in included {
        #expect(venue?.city == concert.city && venue?.number == concert.hall)
      }
      for number in [300, 2_100] {
        let deleted = try dflat.write(Venue.self) { txn in
          try txn.delete(txn.query(Venue.self).limit(number)).deleted
        }
        #expect(deleted == number)
        #expect(try dflat.query(Concert.self).count() == 2 * (try dflat.query(Venue.self).count()))
      }
      let keys = [Venue.ID("c50", 0), Venue.ID("c51", 1), Venue.ID("c0", 0)]
      let change = try dflat.write(Venue.self) { try $0.delete(Venue.self, keys: keys) }
      #expect(change.deleted == 2 && change.missing == 1)
      #expect(try dflat.query(Concert.self).count() == 396)
    }
  }
}
