// Sources/Dflat/Dflat.docc/DraftsAndLiveObjects.md
import SQLiteDflat

let post = Post(title: "Locks", tags: ["dflat"])
// block 1

@MainActor func uniqued(dflat: SQLiteWorkspace, post: Post) async throws {
  try await dflat.write(Post.self) { try $0.insert(post) }
  // block 6.1
}

try await uniqued(dflat: SQLiteWorkspace.inMemory(), post: post)
