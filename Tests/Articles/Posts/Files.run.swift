// Sources/SQLiteDflat/SQLiteDflat.docc/Files.md
import Foundation
import SQLiteAccess
import SQLiteDflat

let url = URL(filePath: "/data/app/posts.db")
// block 10

let statements = """
  // block 8
  """

func plainSQL(dflat: SQLiteWorkspace) async throws {
  try await dflat.write(Post.self) { txn in
    try txn.insert(Post(title: "a", content: .photo(Photo(width: 640)), tags: ["x", "y"]))
    try txn.insert(Post(title: "b", tags: ["x"]))
  }
  let connection = try Connection(path: dflat.filePath, mode: .readOnly)
  try connection.createView(of: Post.self)
  for statement in statements.split(separator: "\n") {
    let rows = try connection.rows(String(statement))
    precondition(!rows.isEmpty, "\(statement) has no rows")
  }
}

try await plainSQL(dflat: SQLiteWorkspace.inMemory())
