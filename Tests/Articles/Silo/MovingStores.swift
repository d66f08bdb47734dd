// Sources/Silo/Silo.docc/MovingStores.md
import SQLiteDflat
import Silo

enum MovingStores {
  static func moving(silos: Silos, path: String) async throws {
    // block 1
  }

  static func back(tasks: Silo<Task>, task: Task, dflat: SQLiteWorkspace) async throws {
    // block 2
  }
}
