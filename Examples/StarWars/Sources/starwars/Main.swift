// starwars: asks a GraphQL service about some people and robots, and keeps what it says.
//
// Five operations select different fields of the same characters. What one of them brings, the
// others do not erase.

import DflatGraphQL
import Foundation
import Service
import SQLiteDflat

@main struct Main {
  static func main() async {
    do {
      let arguments = try Arguments()
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: arguments.file.path + suffix)
      }
      let dflat = try await SQLiteWorkspace.open(arguments.file)
      defer { dflat.shutdown() }
      let program = Program(
        dflat: dflat,
        service: try arguments.service(
          recorded: Bundle.module.resourceURL!.appending(path: "Responses")))
      try await program.run()
    } catch {
      FileHandle.standardError.write(Foundation.Data("starwars: \(error)\n".utf8))
      exit(1)
    }
  }
}

private struct Program {
  let dflat: SQLiteWorkspace
  let service: any Service

  func run() async throws {
    // Told once for each response that changes a character.
    let subscription = dflat.subscribe(dflat.query(Character.self).computing(.count)) {
      print("        (now \($0) characters)")
    }
    defer { subscription.cancel() }

    print("# Five operations about the same characters\n")
    try await store("Hero", HeroQuery(variables: .init(episode: .empire)))
    try await store("CharacterDetails", CharacterDetailsQuery(variables: .init(id: "1000")))
    show("1000")
    try await store("Friends", FriendsQuery(variables: .init(id: "1000")))
    show("1000")
    try await store("Fleet", FleetQuery(variables: .init(id: "1002")))
    try await store("Search", SearchQuery(variables: .init(text: "L")))
    show("1000")
    print("        Nothing that an earlier operation had brought is lost.")
    try await store("Hero", HeroQuery(variables: .init(episode: .empire)))

    print("\n# Typed queries, across the interface\n")
    let named = try dflat.query(Character.self).where(Character.name { $0.hasPrefix("L") }).fetch()
    print("name begins with L: \(named.map(name).joined(separator: ", "))")
    let tall = try dflat.query(Character.self)
      .where(Character.subtype.as(Character.Human.self).height > 1.6).fetch()
    print("humans over 1.60 m: \(tall.map(name).joined(separator: ", "))")
    if let ship = dflat.find(Starship.self, "3000") {
      print("Han's ship: \(ship.name ?? "?"), \(ship.length) m, built \(ship.built ?? "?")")
    }

    print("\n# Mutations\n")
    try await store("Move", MoveMutation(variables: .init(id: "1003", planet: .value("Endor"))))
    show("1003")
    try await store(
      "Rate", RateMutation(variables: .init(rating: RatingInput(starship: "3000", stars: 5))))
    print("        stars of 3000: \(dflat.find(Starship.self, "3000")?.stars ?? 0)")
  }

  /// Asks for an operation, and stores what comes.
  private func store<Operation: GraphQLOperation>(
    _ name: String, _ operation: Operation
  ) async throws where Operation.Data: GraphQLStorable {
    let data = try await service.ask(operation)
    let change = try await dflat.write(Character.self, Starship.self) { txn in
      try txn.store(data)
    }
    print(
      "\(name): \(change.inserted) new, \(change.updated) changed, \(change.unchanged) as before")
  }

  /// Prints what is known of a character.
  private func show(_ id: String) {
    guard let character = dflat.find(Character.self, id) else { return }
    switch character.subtype {
    case .human(let human):
      var parts = ["\(human.name ?? "?")"]
      if human.height != 0 { parts.append("\(human.height) m") }
      if let planet = human.homePlanet { parts.append("from \(planet)") }
      if !human.appearsIn.isEmpty { parts.append("in \(human.appearsIn.count) films") }
      if !human.friends.isEmpty { parts.append("\(human.friends.count) friends") }
      print("        \(id): \(parts.joined(separator: ", "))")
    case .droid(let droid):
      print("        \(id): \(droid.name ?? "?"), \(droid.primaryFunction ?? "of unknown use")")
    case nil: print("        \(id): of an unknown kind")
    }
  }

  private func name(_ character: Character) -> String {
    switch character.subtype {
    case .human(let human): human.name ?? "?"
    case .droid(let droid): droid.name ?? "?"
    case nil: "?"
    }
  }
}
