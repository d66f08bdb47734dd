// Values whose older versions cannot all be migrated by a release, and can be by the next one.

import Empire
import EmpireSilo
import Foundation
import Silo

/// A value with a number, in some release of a program.
protocol NumberedValue: Persistable, Equatable where ID == Int {
  var number: Int { get }
  init(id: Int, number: Int)
  static var number: Field<Int, Canonical<Self>> { get }
}

/// A value whose oldest version has a text.
protocol OnceText: NumberedValue {
  associatedtype First: TextVersion
}

/// An older version.
protocol TextVersion: Persistable where ID == Int {
  var text: String { get }
  init(id: Int, text: String)
}

struct IllegibleText: Error, Equatable {
  var text: String
}

/// The release whose steps are mistaken.
enum Broken {
  @Persistable(version: 3, table: "counters", shape: "id:I number:I")
  struct Counter: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }

  @Persistable(version: 2, table: "prices", shape: "id:I number:I")
  struct Price: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }

  @Persistable(version: 2, table: "stops", shape: "id:I number:I")
  struct Stop: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }

  @Persistable(
    version: 2, table: "leaves", shape: "id:I number:I folder:@Folder? of:@Folder? held:@Folder?")
  struct Leaf: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
    @DeleteRule(.cascade) var folder: RelatedItem<Folder>?
    @DeleteRule(.nullify) var of: RelatedItem<Folder>?
    @Retains @DeleteRule(.deny) var held: RelatedItem<Folder>?
  }
}

/// The release that mends them.
enum Mended {
  @Persistable(version: 3, table: "counters", shape: "id:I number:I")
  struct Counter: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }

  @Persistable(version: 2, table: "prices", shape: "id:I number:I")
  struct Price: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }

  @Persistable(version: 2, table: "stops", shape: "id:I number:I")
  struct Stop: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }

  @Persistable(
    version: 2, table: "leaves", shape: "id:I number:I folder:@Folder? of:@Folder? held:@Folder?")
  struct Leaf: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
    @DeleteRule(.cascade) var folder: RelatedItem<Folder>?
    @DeleteRule(.nullify) var of: RelatedItem<Folder>?
    @Retains @DeleteRule(.deny) var held: RelatedItem<Folder>?
  }
}

// MARK: Counters: two steps, each of which fails for other values

extension Broken.Counter: OnceText {
  @EntityVersion(1, of: Broken.Counter.self, shape: "id:I text:S")
  struct V1: TextVersion, Hashable {
    var id: Int
    var text: String
  }

  @EntityVersion(2, of: Broken.Counter.self, shape: "id:I text:S note:S")
  struct V2: Hashable {
    var id: Int
    var text: String
    var note: String
  }

  typealias First = V1

  static var migrations: Migrations<Broken.Counter> {
    Migrations {
      Migrate(from: V1.self, to: V2.self) { old in
        if old.text == "two" { throw IllegibleText(text: old.text) }
        return V2(id: old.id, text: old.text, note: "")
      }
      Migrate(from: V2.self, to: Broken.Counter.self) { old in
        if old.text == "drop" { return nil }
        guard let number = Int(old.text) else { throw IllegibleText(text: old.text) }
        return Broken.Counter(id: old.id, number: number)
      }
    }
  }
}

extension Mended.Counter: OnceText {
  @EntityVersion(1, of: Mended.Counter.self, shape: "id:I text:S")
  struct V1: TextVersion, Hashable {
    var id: Int
    var text: String
  }

  @EntityVersion(2, of: Mended.Counter.self, shape: "id:I text:S note:S")
  struct V2: Hashable {
    var id: Int
    var text: String
    var note: String
  }

  typealias First = V1

  static var migrations: Migrations<Mended.Counter> {
    Migrations {
      Migrate(from: V1.self, to: V2.self) { V2(id: $0.id, text: $0.text, note: "") }
      Migrate(from: V2.self, to: Mended.Counter.self) { old in
        old.text == "drop" ? nil : Mended.Counter(id: old.id, number: Int(old.text) ?? -1)
      }
    }
  }
}

// MARK: Prices: a step that reads other values

extension Broken.Price: OnceText {
  @EntityVersion(1, of: Broken.Price.self, shape: "id:I text:S")
  struct V1: TextVersion, Hashable {
    var id: Int
    var text: String
  }

  typealias First = V1

  static var migrations: Migrations<Broken.Price> {
    Migrations {
      Migrate(from: V1.self, to: Broken.Price.self, reading: Tag.self) { old, others in
        _ = try others.load(Tag.self, "any")
        if old.text == "drop" { return nil }
        guard let number = Int(old.text) else { throw IllegibleText(text: old.text) }
        return Broken.Price(id: old.id, number: number)
      }
    }
  }
}

extension Mended.Price: OnceText {
  @EntityVersion(1, of: Mended.Price.self, shape: "id:I text:S")
  struct V1: TextVersion, Hashable {
    var id: Int
    var text: String
  }

  typealias First = V1

  static var migrations: Migrations<Mended.Price> {
    Migrations {
      Migrate(from: V1.self, to: Mended.Price.self, reading: Tag.self) { old, others in
        _ = try others.load(Tag.self, "any")
        return old.text == "drop" ? nil : Mended.Price(id: old.id, number: Int(old.text) ?? -1)
      }
    }
  }
}

// MARK: Stops: a step that makes several values of a trip, with ids of their own

extension Broken.Stop: NumberedValue {
  @EntityVersion(1, of: Broken.Stop.self, shape: "id:I lengths:[I]")
  struct V1: Hashable {
    var id: Int
    var lengths: [Int]
  }

  static var migrations: Migrations<Broken.Stop> {
    Migrations {
      MigrateSeveral(from: V1.self, to: Broken.Stop.self) { trip in
        if trip.lengths.contains(-1) { throw IllegibleText(text: "\(trip.lengths)") }
        return trip.lengths.enumerated().map { Broken.Stop(id: trip.id + $0, number: $1) }
      }
    }
  }
}

extension Mended.Stop: NumberedValue {
  @EntityVersion(1, of: Mended.Stop.self, shape: "id:I lengths:[I]")
  struct V1: Hashable {
    var id: Int
    var lengths: [Int]
  }

  static var migrations: Migrations<Mended.Stop> {
    Migrations {
      MigrateSeveral(from: V1.self, to: Mended.Stop.self) { trip in
        trip.lengths.enumerated().map { Mended.Stop(id: trip.id + $0, number: $1) }
      }
    }
  }
}

// MARK: Leaves: relations with rules

extension Broken.Leaf {
  @EntityVersion(
    1, of: Broken.Leaf.self, shape: "id:I text:S folder:@Folder? of:@Folder? held:@Folder?")
  struct V1: Hashable {
    var id: Int
    var text: String
    @DeleteRule(.cascade) var folder: RelatedItem<Folder>?
    @DeleteRule(.nullify) var of: RelatedItem<Folder>?
    @Retains @DeleteRule(.deny) var held: RelatedItem<Folder>?
  }

  static var migrations: Migrations<Broken.Leaf> {
    Migrations {
      Migrate(from: V1.self, to: Broken.Leaf.self) { old in
        guard let number = Int(old.text) else { throw IllegibleText(text: old.text) }
        return Broken.Leaf(
          id: old.id, number: number, folder: old.folder, of: old.of, held: old.held)
      }
    }
  }
}

extension Mended.Leaf {
  @EntityVersion(
    1, of: Mended.Leaf.self, shape: "id:I text:S folder:@Folder? of:@Folder? held:@Folder?")
  struct V1: Hashable {
    var id: Int
    var text: String
    @DeleteRule(.cascade) var folder: RelatedItem<Folder>?
    @DeleteRule(.nullify) var of: RelatedItem<Folder>?
    @Retains @DeleteRule(.deny) var held: RelatedItem<Folder>?
  }

  static var migrations: Migrations<Mended.Leaf> {
    Migrations {
      Migrate(from: V1.self, to: Mended.Leaf.self) { old in
        let number = Int(old.text) ?? -1
        return Mended.Leaf(
          id: old.id, number: number, folder: old.folder, of: old.of, held: old.held)
      }
    }
  }
}

/// A value that refers to one of them.
@Persistable(version: 1, table: "counter_uses", shape: "id:I counter:@Broken.Counter")
struct CounterUse: Identifiable, Hashable, Sendable {
  var id: Int
  var counter: RelatedItem<Broken.Counter>
}
