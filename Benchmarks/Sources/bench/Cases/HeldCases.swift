// What is held in memory: live objects, types in memory, and results in files.

import Dflat
import Foundation
import SQLiteDflat
import Synchronization

extension Case {
  /// Fetches objects that the program holds as live objects. The floor fetches them without.
  static let uniqued = Case(
    id: "uniqued", title: "fetch 10,000 that are held as live objects", goal: 1.3, floor: .without
  ) { fixture in
    let template = try fixture.template(fixture.few)
    let store = Store(template)
    let other = Store(try fixture.twin(of: template))
    let docs = store.workspace.uniqued(BenchDoc.self, on: nil)
    let held = docs.objects(store.workspace.fetch(for: BenchDoc.self).all())
    return (
      ours: {
        var count = 0
        let nanoseconds = time {
          count = docs.objects(store.workspace.fetch(for: BenchDoc.self).all()).count
        }
        try store.check()
        withExtendedLifetime(held) {}
        return Outcome(nanoseconds: nanoseconds, checksum: checksum(count))
      },
      floor: {
        var count = 0
        let nanoseconds = time {
          count = other.workspace.fetch(for: BenchDoc.self).all().count
        }
        try other.check()
        return Outcome(nanoseconds: nanoseconds, checksum: checksum(count))
      }
    )
  }

  /// Looks objects up by their keys, which are strings. The floor is a dictionary behind a lock.
  static let residentGet = Case(
    id: "resident-get", title: "look 10,000 up by key in a type in memory", goal: 1.5
  ) { fixture in
    let store = Store(try fixture.template(fixture.few))
    let workspace = store.workspace
    let resident = try wait { try await workspace.resident(BenchDoc.self) }
    let docs = Array(workspace.fetch(for: BenchDoc.self).all())
    let keys = docs.map(\.title)
    let memory = Mutex<[String: BenchDoc]>([:])
    for doc in docs { memory.withLock { $0[doc.title] = doc } }
    return (
      ours: {
        var sum = Checksum()
        let nanoseconds = time {
          for key in keys { sum.add(resident[key]?.priority ?? 0) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var sum = Checksum()
        let nanoseconds = time {
          for key in keys { sum.add(memory.withLock { $0[key] }?.priority ?? 0) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }

  /// Reads a saved result of 200 objects. The floor reads the bytes of the file only.
  static let savedResult = Case(
    id: "saved-result", title: "read 200 objects of a saved result", allowance: 300
  ) { fixture in
    let store = Store(try fixture.template(fixture.few))
    let url = URL(fileURLWithPath: fixture.path("saved-result"))
    try store.workspace.fetch(for: BenchDoc.self).all(limit: 200).save(to: url)
    return (
      ours: {
        var count = 0
        let nanoseconds = try time { count = try FetchedResult<BenchDoc>(contentsOf: url).count }
        return Outcome(nanoseconds: nanoseconds, checksum: checksum(min(count, 1)))
      },
      floor: {
        var count = 0
        let nanoseconds = try time { count = try Data(contentsOf: url).count }
        return Outcome(nanoseconds: nanoseconds, checksum: checksum(min(count, 1)))
      }
    )
  }
}
