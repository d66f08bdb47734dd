// SiloMigration: silos whose retained versions are migrated by processes that are killed.
//
// Notes come from two versions, through a step that makes two of one. Visits take the names of
// places of an older version, and so are all migrated before the first place is.

import Dflat
import Foundation
import SQLiteDflat
import Silo

/// A part of a note.
@Persistable(version: 3, table: "kill_notes", shape: "id:I64 text:S near:@{KillNote}")
struct KillNote: Identifiable {
  var id: Int64
  @Indexed var text: String
  var near: RelatedItems<KillNote>

  @EntityVersion(1, of: KillNote.self, shape: "id:I64 number:I64")
  struct V1: Identifiable {
    var id: Int64
    var number: Int64
  }

  @EntityVersion(2, of: KillNote.self, shape: "id:I64 numbers:[I64]")
  struct V2: Identifiable {
    var id: Int64
    var numbers: [Int64]
  }

  static var migrations: Migrations<KillNote> {
    Migrations {
      Migrate(from: V1.self, to: V2.self) { V2(id: $0.id, numbers: [$0.number, -$0.number]) }
      MigrateSeveral(from: V2.self, to: KillNote.self) { old in
        old.numbers.enumerated().map { position, number in
          KillNote(
            id: 2 * old.id + Int64(position), text: "\(number)",
            near: RelatedItems(ids: [2 * old.id, 2 * old.id + 1]))
        }
      }
    }
  }
}

/// A place, whose name has got a city.
@Persistable(version: 2, table: "kill_places", shape: "id:I64 name:S city:S")
struct KillPlace: Identifiable {
  var id: Int64
  var name: String
  var city: String

  @EntityVersion(1, of: KillPlace.self, shape: "id:I64 name:S")
  struct V1: Identifiable {
    var id: Int64
    var name: String
  }

  static var migrations: Migrations<KillPlace> {
    Migrations {
      Migrate(from: V1.self, to: KillPlace.self) { old in
        KillPlace(id: old.id, name: "renamed", city: "city of \(old.name)")
      }
    }
  }
}

/// A visit, which has got the name of its place.
@Persistable(version: 2, table: "kill_visits", shape: "id:I64 place:S")
struct KillVisit: Identifiable {
  var id: Int64
  var place: String

  @EntityVersion(1, of: KillVisit.self, shape: "id:I64 place:@KillPlace.V1")
  struct V1: Identifiable {
    var id: Int64
    var place: RelatedItem<KillPlace.V1>
  }

  static var migrations: Migrations<KillVisit> {
    Migrations {
      Migrate(from: V1.self, to: KillVisit.self, reading: KillPlace.V1.self) { old, others in
        let place = try others.load(KillPlace.V1.self, old.place.id)
        return KillVisit(id: old.id, place: place?.name ?? "unknown")
      }
    }
  }
}

/// The migration of these silos.
public struct SiloMigration: KilledMigration {
  /// How many visits a place has.
  private static let visits: Int64 = 4

  /// Its name.
  public static let name = "silos"

  /// The migration.
  public init() {}

  private func open(_ path: String) -> SQLiteWorkspace {
    SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
  }

  /// Values of the retained versions; half of the notes are of version 1.
  public func fill(_ path: String, _ count: Int64) throws -> Int64 {
    let dflat = open(path)
    let silos = Silos(in: dflat)
    let places = count / Self.visits + 1
    try waitForTask {
      try await silos[KillNote.V1.self].save((0..<count / 2).map { .init(id: $0, number: $0) })
      try await silos[KillNote.V2.self].save(
        (count / 2..<count).map { .init(id: $0, numbers: [$0, -$0]) })
      try await silos[KillPlace.V1.self].save(
        (0..<places).map { .init(id: $0, name: "place \($0)") })
      try await silos[KillVisit.V1.self].save(
        (0..<count).map { .init(id: $0, place: RelatedItem(id: $0 / Self.visits)) })
    }
    dflat.shutdown()
    return 2 * count + places
  }

  /// Migrates all values.
  public func migrate(_ path: String, step: Int) throws {
    let dflat = open(path)
    let silos = Silos(in: dflat)
    try waitForTask {
      try await silos[KillVisit.self].migrate(step: step)
      try await silos[KillPlace.self].migrate(step: step)
      try await silos[KillNote.self].migrate(step: step)
    }
    dflat.shutdown()
  }

  /// Reads the tables as they are, without migrating anything.
  public func check(_ path: String, _ count: Int64, _ faults: inout [String]) throws -> Int64 {
    let dflat = open(path)
    defer { dflat.shutdown() }
    let left = try dflat.read { context in
      try checkNotes(context, count, &faults) + checkVisits(context, count, &faults)
    }
    faults += try siloFaults(path, [KillNote.self, KillPlace.self, KillVisit.self])
    return left
  }

  private func values<V: Persistable>(_ type: V.Type, _ context: ReadContext) throws -> [V] {
    try context.fetch(for: Canonical<V>.self).all().map { try $0.value() }
  }

  private func checkNotes(
    _ context: ReadContext, _ count: Int64, _ faults: inout [String]
  ) throws -> Int64 {
    let first = try values(KillNote.V1.self, context).map(\.id)
    let second = try values(KillNote.V2.self, context).map(\.id)
    let notes = try values(KillNote.self, context)
    let halves = notes.map(\.id).sorted()
    let whole = stride(from: 0, to: halves.count, by: 2).map { halves[$0] / 2 }
    if halves != whole.flatMap({ [2 * $0, 2 * $0 + 1] }) {
      faults.append("a note has become one part of two")
    }
    if (first + second + whole).sorted() != Array(0..<count) {
      faults.append(
        "\(first.count) notes of version 1, \(second.count) of version 2, and \(halves.count) "
          + "parts, of \(count) notes")
    }
    for note in notes {
      let old = note.id / 2
      let number = note.id % 2 == 0 ? old : -old
      if note.text != "\(number)" || note.near != RelatedItems(ids: [2 * old, 2 * old + 1]) {
        faults.append("note \(note.id) became \(note)")
      }
    }
    return Int64(first.count + second.count)
  }

  private func checkVisits(
    _ context: ReadContext, _ count: Int64, _ faults: inout [String]
  ) throws -> Int64 {
    let (old, new) = (
      try values(KillVisit.V1.self, context), try values(KillVisit.self, context)
    )
    if (old.map(\.id) + new.map(\.id)).sorted() != Array(0..<count) {
      faults.append("\(old.count) old visits and \(new.count) new ones, of \(count)")
    }
    for visit in new where visit.place != "place \(visit.id / Self.visits)" {
      faults.append("visit \(visit.id) became \(visit)")
    }
    let (places, moved) = (
      try values(KillPlace.V1.self, context), try values(KillPlace.self, context)
    )
    if (places.map(\.id) + moved.map(\.id)).sorted() != Array(0...count / Self.visits) {
      faults.append("\(places.count) old places and \(moved.count) new ones")
    }
    for place in moved where place.city != "city of place \(place.id)" {
      faults.append("place \(place.id) became \(place)")
    }
    if !old.isEmpty, !moved.isEmpty {
      faults.append("\(moved.count) places were migrated before \(old.count) visits")
    }
    return Int64(old.count + places.count)
  }
}
