// A later version of the program, on the same file.

import SQLiteDflat

package func afterUpgrade(path: String) async throws {
  let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
  let posts = dflat.fetch(for: Post.self)
  print("as they are:", posts.where(Post.author.isNull).map(\.headline))

  let post = Post(headline: "Post 3")
  try await dflat.write(Post.self) { txn in _ = try txn.update(post) { $0.author = "Ada" } }
  try await dflat.indexesReady(for: Post.self)  // otherwise it is built when a query asks for it
  print("by the new index:", posts.where(Post.author == "Ada").map(\.headline))

  // Where no such change would do: another type, and what becomes of each object, in steps.
  let migration = Migration(from: Post.self, to: Article.self) { post in
    Article(number: Int64(post.priority), title: post.headline)
  }
  try await dflat.migrate(migration)
  print("migrated:", dflat.fetch(for: Article.self).all().compactMap(\.title), posts.all().count)
  await dflat.shutdown()
}
