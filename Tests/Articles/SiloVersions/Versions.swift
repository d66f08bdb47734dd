// Sources/Silo/Silo.docc/Versions.md
import Foundation
import Silo
import Testing

// block 2

// block 3

func unmigrated(
  tasks: Silo<Task>, log: (UUID?, EntityVersionName, any Error) -> Void
) async throws {
  // block 5
}

func testing(id: UUID, fixtures: URL) throws {
  // block 6
}

func otherTools() throws {
  // block 7
}
