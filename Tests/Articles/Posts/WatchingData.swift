// Sources/Dflat/Dflat.docc/WatchingData.md
import SQLiteDflat

final class Table {
  func remove(at index: Int) {}
}

@MainActor final class PostsModel {
  var posts: FetchedResult<Post>?
  var subscription: Workspace.Subscription?

  func watch(dflat: SQLiteWorkspace) throws {
    // block 1
    following(popular, dflat)
  }

  func watch(_ posts: FetchedResult<Post>, _ post: Post, dflat: SQLiteWorkspace) {
    // block 2
  }

  func following(_ popular: ObjectQuery<Post>, _ dflat: SQLiteWorkspace) {
    // block 3
  }

  func change(_ popular: FetchedResult<Post>, dflat: SQLiteWorkspace, table: Table) async {
    // block 6
  }
}

let dflat = SQLiteWorkspace.inMemory()

// block 7
