// Sources/Silo/Silo.docc/KeepingAndDeleting.md
import Foundation
import SQLiteDflat
import Silo

enum KeepingAndDeleting {
  // block 3

  enum TaskUpload: Upload {
    case delete(UUID)
    var orderingKey: String { "" }
  }

  struct Answer {
    var tasks: [Task]
  }

  static func keeping(silos: Silos) {
    // block 1
  }

  static func caching(dflat: SQLiteWorkspace) {
    // block 2
  }

  static func deleting(
    silos: Silos, tasks: Silo<Task>, task: Task, answer: Answer, id: UUID
  ) async throws {
    // block 4
    // block 5
  }
}
