// Sources/Silo/Silo.docc/OfflineFirst.md
import Foundation
import Silo

struct API: Sendable {
  struct Rejected: Error {}
  func users(_ ids: [User.ID]) async throws -> [User] { [] }
  func send(_ upload: TaskUpload, idempotencyKey: UUID) async throws {}
}

func resolving(silos: Silos, api: API, task: Task) async throws {
  // block 1
}

// block 2.1

func uploading(silos: Silos, api: API, task: Task) async throws {
  // block 2.2
  // block 2.3
  // block 3
}
