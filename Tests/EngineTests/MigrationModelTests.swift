// Migrations beside random transactions. The model is two dictionaries, of old and of new letters:
// before a transaction that names the new type, every old letter is moved by the function of the
// migration.

import Dflat
import DflatTestSupport
import Testing

@Suite("Migrations and the model")
struct MigrationModelTests {
  private struct Model {
    var old: [Int32: V1.Letter] = [:]
    var new: [String: V2.Letter] = [:]

    /// What a reader of the new type finds.
    func converted() throws -> [String: V2.Letter] {
      var all = new
      for letter in old.values {
        if let converted = try Letters.toSecond().migrate(letter) { all[converted.id] = converted }
      }
      return all
    }
  }

  private func expectState(_ workspace: TemporaryWorkspace, _ model: Model, _ seed: UInt64) throws {
    let expected = try model.converted()
    let found = workspace.secondLetters
    #expect(found.count == expected.count, "DFLAT_SEED=\(seed)")
    for letter in found { #expect(letter == expected[letter.id], "DFLAT_SEED=\(seed)") }
    let letters = workspace.dflat.fetch(for: V2.Letter.self)
    #expect(
      letters.where(V2.Letter.words >= 3, orderBy: [V2.Letter.id.ascending]).map(\.id)
        == expected.values.filter { $0.words >= 3 }.map(\.id).sorted(), "DFLAT_SEED=\(seed)")
  }

  @Test(
    "Old and new letters that are stored, changed and removed beside a migration are all found",
    arguments: TestEngine.all)
  func beside(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 100 : 6) {
        try withTemporaryWorkspace(engine) { workspace in
          var model = Model()
          var next: Int32 = 0
          workspace.dflat.migrateWhenUsed(Letters.toSecond())
          for _ in 0..<12 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
              // Another part of the program still stores letters of the first version.
              let letters = (0..<Int32.random(in: 1...30, using: &random)).map {
                Letters.old(next + $0)
              }
              next += Int32(letters.count)
              try workspace.storeFirst(letters)
              for letter in letters { model.old[letter.number] = letter }
            case 2:
              let known = try model.converted()
              let chosen = known.keys.sorted().filter { _ in random.oneIn(3) }
              try workspace.write([V2.Letter.self]) { txn in
                for id in chosen {
                  let request = try #require(
                    V2.LetterChangeRequest.deletionRequest(V2.Letter(id: id)))
                  try txn.submit(request)
                }
              }
              model = Model(old: [:], new: known.filter { !chosen.contains($0.key) })
              #expect(workspace.firstLetters.isEmpty)
            default:
              let known = try model.converted()
              let chosen = known.keys.sorted().filter { _ in random.oneIn(3) }
              try workspace.write([V2.Letter.self]) { txn in
                for id in chosen {
                  let request = try #require(
                    V2.LetterChangeRequest.changeRequest(V2.Letter(id: id)))
                  request.words += 1
                  try txn.submit(request)
                }
              }
              model = Model(old: [:], new: known)
              for id in chosen {
                guard let letter = known[id] else { continue }
                var changed = V2.LetterBuilder(from: letter)
                changed.words += 1
                model.new[id] = changed.build()
              }
            }
            try expectState(workspace, model, random.seed)
          }
          #expect(workspace.takeErrors().isEmpty)
        }
      }
    }
  }
}
