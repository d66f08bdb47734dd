// next: the program some months later. An operation selects one more field, `mass`, and one less.
//
// `Character_generated.fbs` beside it continues the schema of the first version, which the build
// checks: each field keeps its slot, so everything that is stored can be read.

import DflatGraphQL
import Foundation
import Service
import SQLiteDflat

@main struct Main {
  static func main() async {
    do {
      let arguments = try Arguments()
      guard FileManager.default.fileExists(atPath: arguments.file.path) else {
        throw Failure("there is no \(arguments.file.path): run 'starwars' first")
      }
      let dflat = try await SQLiteWorkspace.open(arguments.file)
      defer { dflat.shutdown() }
      print("\n# The next version of the program\n")
      let service = try arguments.service(
        recorded: Bundle.module.resourceURL!.appending(path: "Responses"))
      let stored = try dflat.query(Character.self).count()
      print("\(stored) characters are still there.")
      show("before", dflat)
      let data = try await service.ask(CharacterDetailsQuery(variables: .init(id: "1000")))
      try await dflat.write(Character.self, Starship.self) { txn in _ = try txn.store(data) }
      show("after ", dflat)
    } catch {
      FileHandle.standardError.write(Foundation.Data("next: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func show(_ when: String, _ dflat: SQLiteWorkspace) {
    guard case .human(let luke)? = dflat.find(Character.self, "1000")?.subtype else { return }
    print(
      "\(when): \(luke.name ?? "?"), \(luke.height) m, \(luke.mass) kg, \(luke.friends.count) friends"
    )
  }
}
