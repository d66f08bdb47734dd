// A program that imports nothing but Silo, as in the documentation.

import Silo

@Persistable(
  version: 1, table: "chores",
  shape: "id:U title:S created:D modified:D? link:L? notes:X done:B=false")
struct Chore: Identifiable, Hashable, Sendable {
  var id: UUID
  var title: String
  var created: Date
  var modified: Date?
  var link: URL?
  var notes: Data
  var done = false
}

struct ChoreUpload: Upload {
  var id: UUID
  var orderingKey: String { id.uuidString }
}

func use(_ silos: Silos, _ store: some ValueStore<Chore>) async throws {
  let uploads = UploadQueue<ChoreUpload>(
    in: silos, retry: .exponential(from: .seconds(1), to: .minutes(10), jitter: 0.2))
  silos[Chore.self].retention = .recent(count: 5000, age: .days(30))
  let chore = Chore(id: UUID(), title: "a", created: Date(), notes: Data())
  try await silos.write { txn in
    try txn[Chore.self].save(chore)
    try txn.enqueue(ChoreUpload(id: chore.id))
  }
  try await uploads.run(concurrency: 4) { _, context in _ = context.key }
  try await store.save(chore)
  _ = try await store.load(chore.id)
  _ = try await store.query(ValueQuery(where: !Chore.done))
  try await store.remove(chore.id)
}

@PersistableValue(shape: "readable:S unreadable:S")
enum Legibility: String, Sendable { case readable, unreadable }

@PersistableValue(shape: "on:() off:()")
enum Switch: Hashable {
  case on, off
  #if DEBUG
    func describe() -> String { "\(self)" }
  #endif
}
