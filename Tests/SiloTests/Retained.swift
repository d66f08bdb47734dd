// Values with retained versions.

import Foundation
import Silo

@Persistable(version: 3, table: "letters", shape: "id:I subject:S words:[S] sent:D?")
struct Letter: Identifiable, Hashable, Sendable {
  var id: Int
  var subject: String
  var words: [String]
  var sent: Date?
}

extension Letter {
  @EntityVersion(1, of: Letter.self, shape: "id:I title:S")
  struct V1: Hashable {
    var id: Int
    var title: String
  }

  @EntityVersion(2, of: Letter.self, shape: "id:I title:S text:S")
  struct V2: Hashable {
    var id: Int
    var title: String
    var text: String
  }

  struct Unreadable: Error {}

  static var migrations: Migrations<Letter> {
    Migrations {
      Migrate(from: V1.self, to: V2.self) { old in
        V2(id: old.id, title: old.title, text: "text of \(old.title)")
      }
      Migrate(from: V2.self, to: Letter.self) { old in
        if old.title == "drop" { return nil }
        if old.title == "fail" { throw Unreadable() }
        return Letter(
          id: old.id, subject: old.title,
          words: old.text.split(separator: " ").map(String.init))
      }
    }
  }
}

@Persistable(version: 2, table: "legs", shape: "id:S kilometres:I")
struct Leg: Identifiable, Hashable, Sendable {
  var id: String
  var kilometres: Int
}

extension Leg {
  /// A trip of several legs.
  @EntityVersion(1, of: Leg.self, shape: "id:I lengths:[I]")
  struct V1: Hashable {
    var id: Int
    var lengths: [Int]
  }

  static var migrations: Migrations<Leg> {
    Migrations {
      MigrateSeveral(from: V1.self, to: Leg.self) { trip in
        trip.lengths.enumerated().map { Leg(id: "\(trip.id).\($0)", kilometres: $1) }
      }
    }
  }
}

@Persistable(version: 3, table: "parcels", shape: "id:U weight:R contents:Contents")
struct Parcel: Identifiable, Hashable, Sendable {
  var id: UUID
  var weight: Double
  var contents: Contents
}

extension Parcel {
  @EntityVersion(1, of: Parcel.self, shape: "id:U grams:I8")
  struct V1: Hashable {
    var id: UUID
    var grams: Int8
  }

  @EntityVersion(2, of: Parcel.self, shape: "id:U grams:I note:S? tags:{S} at:D data:X")
  struct V2: Hashable {
    var id: UUID
    var grams: Int
    var note: String?
    var tags: Set<String>
    var at: Date
    var data: Data
  }
}

@Persistable(version: 3, table: "visits", shape: "id:Place guest:@User")
struct Visit: Identifiable, Hashable, Sendable {
  var id: Place
  var guest: RelatedItem<User>
}

extension Visit {
  @EntityVersion(1, of: Visit.self, shape: "id:Place priority:Priority size:Size? done:B=true")
  struct V1: Hashable {
    var id: Place
    var priority: Priority
    var size: Size?
    var done = true
  }

  @EntityVersion(2, of: Visit.self, shape: "id:Place guests:@{User} counts:[S:I] home:Address")
  struct V2: Hashable {
    var id: Place
    var guests: RelatedItems<User>
    var counts: [String: Int]
    var home: Address
  }
}
