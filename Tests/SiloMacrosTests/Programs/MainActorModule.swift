// Correct declarations, in a module whose default isolation is the main actor.

import Foundation
import Silo

@PersistableValue(shape: "open:S done:S")
enum State: String { case open, done }

@PersistableValue(shape: "none:() text:(S)")
enum Contents: Hashable { case none, text(String) }

@PersistableValue(shape: "list:S number:I")
struct Place: Hashable {
  var list: String
  var number: Int
}

@Persistable(
  version: 2, table: "notes",
  shape: "id:Place title:S state:State=.open contents:Contents? owner:@User tags:@{User} at:D")
struct Note: Identifiable, Hashable {
  let id: Place
  @Indexed var title: String
  var state: State = .open
  var contents: Contents?
  var owner: RelatedItem<User>
  var tags: RelatedItems<User>
  var at: Date
  @Ignored var memo = 0
  var summary: String { "\(title) \(state.rawValue)" }
}

extension Note {
  @EntityVersion(1, of: Note.self, shape: "id:Place title:S")
  struct V1 {
    var id: Place
    var title: String
  }

  nonisolated static var migrations: Migrations<Note> {
    Migrations {
      Migrate(from: V1.self, to: Note.self) { old in
        Note(
          id: old.id, title: old.title, owner: .unresolved(id: 1), tags: [], at: .distantPast)
      }
    }
  }
}

@PersistableValue(shape: "city:S=")
struct Address: Hashable { var city = "" }

@Persistable(version: 1, table: "users", shape: "id:I name:S address:Address")
struct User: Identifiable, Hashable {
  let id: Int
  var name: String
  var address: Address = Address()
}

nonisolated enum NoteUpload: Upload {
  case send(String)
  var orderingKey: String {
    switch self {
    case .send(let key): key
    }
  }
}

func use(_ silos: Silos, _ note: Note) async throws -> [String] {
  let notes = silos[Note.self]
  try await notes.save(note, related: .deep)
  try await silos.write { txn in
    try txn[Note.self].save(note)
    try txn.enqueue(NoteUpload.send(note.title))
  }
  let found = try await notes.values(
    where: Note.title == "a" && Note.state == .open && Note.owner == 1,
    orderBy: [Note.at.descending])
  let loaded = try await notes.load(found.map(\.id), resolving: \.owner, \.tags.all)
  let queue = UploadQueue<NoteUpload>(
    in: silos, retry: .exponential(from: .seconds(1), to: .seconds(60)))
  try await queue.run(until: .idle) { _, _ in }
  for await change in notes.changes(where: Note.id == note.id) where change.isEmpty { break }
  return loaded.map(\.summary)
}
