// Sources/Dflat/Dflat.docc/DraftsAndLiveObjects.md
import Foundation
import SQLiteDflat

func drafts(dflat: SQLiteWorkspace, post: Post) async throws {
  // block 1
  // block 2
  // block 3
  try await dflat.write(Post.self) { [draft] txn in
    // block 4
  }
  // block 5
}

@MainActor func live(dflat: SQLiteWorkspace) {
  // block 6.1
}

// block 6.2

func saving(dflat: SQLiteWorkspace, caches: URL) throws {
  // block 7
}
