// Sources/Dflat/Dflat.docc/Relations.md
import SQLiteDflat

func show(_ post: Post, by author: Author?) {}
func show(_ posts: FetchedResult<Post>) {}

func relations(dflat: SQLiteWorkspace, author: Author) async throws {
  // block 3
  // block 4
  // block 5
  // block 6
  var subscription: Workspace.Subscription?
  // block 7
  // block 8
}
