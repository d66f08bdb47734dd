// Sources/Dflat/Dflat.docc/WatchingData.md
import SQLiteDflat

final class Table {
  func remove(at index: Int) {}
}

@MainActor final class PostsModel {
  var posts: FetchedResult<Post>?
  var subscription: Workspace.Subscription?

  func watch(dflat: SQLiteWorkspace) {
    // block 1
    following(popular, dflat)
  }

  func following(_ popular: FetchedResult<Post>, _ dflat: SQLiteWorkspace) {
    // block 2
  }

  func change(_ popular: FetchedResult<Post>, dflat: SQLiteWorkspace, table: Table) async {
    // block 5
  }
}

let dflat = SQLiteWorkspace.inMemory()

// block 6
